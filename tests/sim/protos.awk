# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# awk -f tests/sim/protos.awk tests/sim/sim_cuda.h common/api/cuda_protos.tbl: declares the functions of CUDA 13.0 whose
# types the header has.

# known TYPE: as C has it, which does not know an enum or a struct by its name alone
FNR == NR && /^(typedef )?(enum|struct) [A-Za-z0-9_]+/ {
	name = $1 == "typedef" ? $3 : $2
	sub(/;/, "", name)
	if (!(name in known))
		known[name] = ($1 == "typedef" ? $2 : $1) " " name
}
FNR == NR && /^(typedef .*|} ?[A-Za-z0-9_]+);$/ {
	name = $0
	sub(/\)\(.*|;$/, "", name)
	sub(/.*[ *]/, "", name)
	known[name] = name
}
FNR == NR { next }

FNR == 1 {
	n = split("void char int float double size_t const unsigned long short *", builtin, " ")
	for (i = 1; i <= n; i++)
		known[builtin[i]] = builtin[i]
}

# of the forms that a function had, the newest comes first
/^(rt|drv) / && $4 != "?" && $3 + 0 <= 13 {
	declaration = $0
	sub(/^[^ ]+ +[^ ]+ +[^ ]+ +/, "", declaration)
	open = index(declaration, "(")
	name = substr(declaration, 1, open - 1)
	sub(/.*[ *]/, "", name)
	result = substr(declaration, 1, open - 1 - length(name))
	parameters = substr(declaration, open + 1)
	sub(/\)$/, "", parameters)
	if (name in declared || name ~ /^__/ || (result = type(result)) == "")
		next
	list = ""
	n = split(parameters, parameter, /, /)
	for (i = 1; i <= n; i++) {
		sub(/[A-Za-z0-9_]+$/, "", parameter[i])
		if ((one = type(parameter[i])) == "")
			next
		list = list (i > 1 ? ", " : "") one
	}
	print result " " name "(" (n ? list : "void") ");"
	declared[name]
}

# type WORDS: "" if it is not known
function type(words,  word, n, i, all) {
	gsub(/\*/, " * ", words)
	n = split(words, word, " ")
	for (i = 1; i <= n; i++) {
		if (!(word[i] in known))
			return ""
		all = all (i > 1 ? " " : "") known[word[i]]
	}
	return all
}
