# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# Turns cuda_roles.tbl into the lists CUDA_ROLES(X), all roles, and CALL_ARGS(X), those recorded.
BEGIN { FS = " *[|] *"; print "/* Made from cuda_roles.tbl by gen_roles.awk: edit that. */" }
/^(#|[ \t]*$)/ || $2 ~ /made/ { next }
{ roles = roles " X(" $1 ")" }
$2 ~ /record/ { recorded = recorded " X(" $1 ")" }
END {
	print "#ifndef CUDA_ROLES\n#define CUDA_ROLES(X)" roles
	print "#define CALL_ARGS(X)" recorded "\n#endif"
}
