# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# cuda_err.tbl -> one line a code: CUDA_ERR(RT or DRV, code, name)
function fail(msg) { printf "%s:%d: %s\n", FILENAME, FNR, msg > "/dev/stderr"; bad = 1 }

BEGIN { print "/* Made from cuda_err.tbl by gen_err.awk: edit that. */" }
/^[ \t]*(#|$)/ { next }
NF != 3 || $1 !~ /^(rt|drv)$/ || $2 !~ /^[0-9]+$/ || $3 !~ /^(cuda|CUDA_)[A-Za-z0-9_]+$/ {
	fail("not 'rt|drv CODE NAME'")
	next
}
($1, $2) in line { fail($1 " " $2 " is on line " line[$1, $2] " already") }
{ line[$1, $2] = FNR; printf "CUDA_ERR(%s, %s, %s)\n", toupper($1), $2, $3 }
END { exit bad }
