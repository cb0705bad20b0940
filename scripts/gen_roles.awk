# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# Turns cuda_roles.tbl into the lists CUDA_ROLES(X), all roles, CALL_ARGS(X), those recorded, and CUDA_ROLE_TYPES(X),
# X(role, type, name or "", byte) for each of NVIDIA's types.
BEGIN { FS = " *[|] *"; print "/* Made from cuda_roles.tbl by gen_roles.awk: edit that. */" }
/^(#|[ \t]*$)/ || $2 ~ /made/ { next }
{ roles = roles " X(" $1 ")" }
$2 ~ /record/ { recorded = recorded " X(" $1 ")" }
{
	n = split($9, w, " ")
	for (i = 1; i <= n; i++) {
		at = sub(/@/, " ", w[i]) ? substr(w[i], index(w[i], " ")) : 0; sub(/ .*/, "", w[i]); split(w[i], t, ".")
		types = types " X(" $1 ", \"" t[1] "\", \"" t[2] "\", " at + 0 ")"; t[2] = ""
	}
}
END {
	print "#ifndef CUDA_ROLES\n#define CUDA_ROLES(X)" roles
	print "#define CALL_ARGS(X)" recorded
	print "#define CUDA_ROLE_TYPES(X)" types "\n#endif"
}
