# shellcheck shell=sh
# Includes, what a header needs, how many tools use a file, and where variables are, against tests/layout.rooms.

# rows N: the rows of tests/layout.rooms with N columns, without space around |
rows() { sed 's/^#.*//; s/ *| */|/g; s/ *$//' tests/layout.rooms | awk -F'|' -v n="$1" 'NF == n'; }

# rooms: "ROOM WORD..." for each room: what it may include, with the full names of rooms
rooms() {
	rows 3 | awk -F'|' '{ gsub(/,/, ""); if ($1 ~ /^common\//) common[substr($1, 8)]; room[NR] = $1; may[NR] = $3 }
		END {
			for (r = 1; r <= NR; r++) {
				n = split(may[r], word, " ")
				line = room[r]
				for (i = 1; i <= n; i++)
					line = line " " (word[i] in common ? "common/" word[i] : word[i])
				print line
			}
		}'
}

# includes FOLDER...: "FILE INCLUDED" for each #include "..." there
includes() {
	find "$@" -name '*.[ch]' -print0 |
		xargs -0 grep -HoE '^#include "[^"]+"' | sed -E 's/:#include "(.*)"/ \1/' | sort
}

rooms >"$tmp/rooms"
includes common tools agent bpf gpu arch/*/machine >"$tmp/includes"

it "tests/layout.rooms has every room, and no others; each row is one of its two tables"
{
	find common agent -mindepth 1 -type d
	find bpf gpu -type d
	for d in tools/*/; do [ -e "${d%/}.c" ] || echo "${d%/}"; done
	printf '%s\n' tools/TOOL.c tools/TOOL arch/ARCH/machine
} | sort >"$tmp/there"
cut -d' ' -f1 "$tmp/rooms" | sort | diff "$tmp/there" - >"$tmp/diff" || no "$(grep '^[<>]' "$tmp/diff" | tr '\n' ' ')"
awk -F'|' '!/^#/ && NF && NF != 2 && NF != 3 { print "row: " $0 }' tests/layout.rooms >"$tmp/out"
# what a room may include is a room, or a header
awk '{ for (i = 2; i <= NF; i++) print $i }' "$tmp/rooms" | sort -u | while read -r w; do
	[ "$w" = common ] || [ -e "common/$w" ] || grep -q "^$w\( \|$\)" "$tmp/rooms" || echo "no such room or header: $w"
done >>"$tmp/out"
[ ! -s "$tmp/out" ] || no "$(tr '\n' ';' <"$tmp/out")"

it "a folder's name in an #include is that of one folder"
# the compiler searches these, whichever comes first
{
	for root in common tools bpf gpu arch/*; do
		find "$root" -mindepth 2 -name '*.h' | sed -E "s|/[^/]*$||; s|^arch/[^/]*|arch/ARCH|; s|.*/|& |; s|(.*) (.*)|\2 \1\2|"
	done
	find agent -name '*.h' | sed -E "s|/[^/]*$||; s|.*|& &|"
} | sort -u >"$tmp/homes"
cut -d' ' -f1 "$tmp/homes" | uniq -d | grep -f - -w "$tmp/homes" >"$tmp/out"
[ ! -s "$tmp/out" ] || no "$(tr '\n' ';' <"$tmp/out")"

it "no room includes what tests/layout.rooms does not allow, and each room has files that were checked"
# what is built stands in no folder
grep -vE ' (\w+\.def|\w+\.ptx\.h|\w+\.pb-c\.h|revision\.h)$' "$tmp/includes" | awk '
	function room(folder) {
		sub(/^arch\/[^\/]*/, "arch/ARCH", folder)
		return folder == "tools" ? "tools/TOOL.c" : folder ~ /^tools\// && !(folder in rooms) ? "tools/TOOL" : folder
	}
	function tool(path) { sub(/^tools\//, "", path); sub(/[\/.].*/, "", path); return path }
	FILENAME == ARGV[1] { rooms[$1]; for (i = 2; i <= NF; i++) may[$1, $i]; next }
	FILENAME == ARGV[2] { home[$1] = $2; next }
	{
		from = $1; sub(/\/[^\/]*$/, "", from); from = room(from)
		checked[from]; files++
		stem = $1; sub(/.*\//, "", stem); sub(/\..*/, "", stem)
		if ($2 == stem ".skel.h" || from == "tools/TOOL.c" && $2 ~ /\.skel\.h$/)
			next
		folder = $2; sub(/\/[^\/]*$/, "", folder)
		if (!(folder in home)) { print $1 ": " $2; next }
		to = room(home[folder])
		allowed = from == to || (from, to) in may || (from, $2) in may || to ~ /^common\// && (from, "common") in may ||
			to == "arch/ARCH/machine"
		if (!allowed || to == "tools/TOOL" && tool($1) != tool(home[folder]))
			print $1 ": " $2
	}
	END {
		if (files < 1000)
			print "only " files + 0 " includes"
		for (r in rooms)
			if (!(r in checked))
				print "nothing was checked of " r
	}' "$tmp/rooms" "$tmp/homes" - >"$tmp/out"
[ ! -s "$tmp/out" ] || no "$(wc -l <"$tmp/out") lines: $(tr '\n' ';' <"$tmp/out")"

it "each header has the include guard of its name: ROOM_X_H, elsewhere FOLDER_X_H"
find common tools agent bpf gpu arch tests examples -name '*.h' ! -path 'tests/data/*' -exec awk '
	FNR == 1 {
		n = 0
		guard = FILENAME
		sub(/^(common|tools|bpf|gpu|arch\/[^\/]*)\//, "", guard)
		gsub(/[.\/-]/, "_", guard)
		wrong[FILENAME] = guard = toupper(guard)
	}
	/^# *(ifndef|define) / && ++n == 1 { first = $0 }
	n == 2 && first == "#ifndef " guard && $0 == "#define " guard { delete wrong[FILENAME]; n++ }
	END { for (h in wrong) print h ": not " wrong[h] }' {} + >"$tmp/out"
[ ! -s "$tmp/out" ] || no "$(tr '\n' ';' <"$tmp/out")"

it "no two headers have one name, but those of each machine"
find common tools agent bpf gpu -name '*.h' | sed 's|.*/||' | sort | uniq -d >"$tmp/out"
[ ! -s "$tmp/out" ] || no "$(tr '\n' ' ' <"$tmp/out")"

it "all machines have the same headers and sources"
(cd arch/x86 && find . -name '*.[chS]' | sort) >"$tmp/x86"
for m in arch/*; do
	(cd "$m" && find . -name '*.[chS]' | sort) | diff "$tmp/x86" - >"$tmp/diff" || no "$m: $(grep '^[<>]' "$tmp/diff" | tr '\n' ' ')"
done

it "no files include each other in a circle, and no rooms"
# a .c file stands with its header
awk 'function unit(f) { sub(/\.[ch]$/, "", f); return f }
	{ for (i = split("common/ tools/ bpf/ gpu/ ./", in_, " "); i; i--) if ((getline line < (in_[i] $2)) > 0) {
		close(in_[i] $2); print unit($1), unit(in_[i] $2) } }' "$tmp/includes" >"$tmp/units"
awk '{ for (i = 2; i <= NF; i++) print $1, $i }' "$tmp/rooms" >>"$tmp/units"
[ "$(wc -l <"$tmp/units")" -gt 300 ] || no "there are few includes"
tsort "$tmp/units" 2>&1 >/dev/null | sed 's/^tsort: //; s/.*: input contains a loop:$/circle:/' >"$tmp/out"
[ ! -s "$tmp/out" ] || no "$(tr '\n' ' ' <"$tmp/out")"

# objects SOURCE...: what they were built as
objects() { for c in "$@"; do echo "$O/${c%.c}.o"; done; }

# symbols FILE...: "FILE KIND SYMBOL", with the kinds U (needed) and T (defined)
symbols() { nm -gA "$@" | awk '{ f = $1; sub(/:.*/, "", f); print f, $(NF - 1) == "U" ? "U" : "T", $NF }'; }

# users: of symbols, with the name of its user in place of an object's
users() {
	sed -E "s|^$O/||; s|^inject/agent/inject/[^ ]*|agent/inject|; s|^inject/agent/resident/[^ ]*|agent/resident|; s|^inject/agent/bpf/[^ ]*|agent/inject|; s|^agent/([^/ ]*)/[^ ]*|agent/\1|
		s|^inject/([^/ .]*)\.programs\.o|tools/\1.c|; s|^tools/([^/ ]*)/[^ ]*|tools/\1.c|; s|^tools/([^/ ]*)\.o|tools/\1.c|"
}

it "nothing in common serves one tool only"
# shellcheck disable=SC2046 # words
symbols $(objects common/*/*.c) | sed -E "s|^$O/([^ ]*)\.o |\1.c |" |
	grep -v '^common/elf/eu_search\.c ' >"$tmp/defined"	# it serves elfutils' archives
{
	# a tool with its parts, and its programs in traced ones; the libraries inside programs
	# shellcheck disable=SC2046 # words
	symbols $(objects tools/*.c tools/*/*.c agent/gpuprobe/*.c agent/gputime/*.c) $(ls "$O"/inject/*.programs.o 2>/dev/null) \
		$(for c in agent/inject/*.c agent/resident/*.c agent/bpf/*.c; do echo "$O/inject/$c.o"; done) | users | sort -u
	# the templates together are one tool, which needs what they name
	grep -ohE '[A-Za-z_][A-Za-z0-9_]*' scripts/templates/*.c | sed 's/^/templates U /' | sort -u
} >"$tmp/used"
awk 'NR == FNR { if ($2 == "T") in_[$3] = $1; else needs[$1] = needs[$1] " " $3; files[$1]; next }
	function mark(user, symbol,  file, list, i, n) {
		file = in_[symbol]
		if (!file || (user, file) in seen)
			return
		seen[user, file]; last[file] = user
		users[file]++
		n = split(needs[file], list, " ")
		for (i = 1; i <= n; i++)
			mark(user, list[i])
	}
	$2 == "U" { mark($1, $3) }
	END {
		for (f in files)
			if (users[f] < 2)
				print f ": " (users[f] ? last[f] : "nobody")
	}' \
	"$tmp/defined" "$tmp/used" | sort >"$tmp/out"
[ ! -s "$tmp/out" ] || no "$(tr '\n' ';' <"$tmp/out")"

it "no fuzzer includes a .c file"
grep -n '#include.*\.c[">]' tests/fuzz/*.[ch] >"$tmp/out"
lines 0 ''

it "what changes is in structs that are passed, but for what there is once in a process"
# and a handler of signals cannot be passed anything
cat >"$tmp/once" <<-'END'
	common/base/clock.c	the time namespace
	common/base/die.c
	common/base/hash.c
	common/bpf/map_backend.c	where maps are, and how many lanes they have, as libbpf is asked
	common/cli/out.c	standard output: where it goes, and what its reader has not taken
	common/cli/top_screen.c
	common/proc/command.c
	agent/gpuprobe/gpuprobe.c	wrappers are passed nothing of ours
	agent/gpuprobe/real.c	the same
	agent/gpuprobe/entry_dl.c	the same
	agent/gpuprobe/ranges.c	the same; and what was allocated before there was anything to do
	agent/gputime/gputime.c	the driver passes nothing of ours
	agent/gputime/activity.c	CUPTI neither
	agent/bpf/task.c	programs are passed what the kernel's are; threads and the process
	agent/inject/inject.c	the dynamic linker passes nothing of ours; the whole of it
	agent/resident/resident.c	the same
	agent/resident/make.c	the same: tables for it
	common/base/cpu_limit.c	the handler's: where it leaves to
	common/proc/signals.c	the handler's: the signal
END
cut -f1 "$tmp/once" >"$tmp/may"
for c in common/*/*.c tools/*/*.c agent/*/*.c; do
	case $c in
	agent/inject/* | agent/resident/* | agent/bpf/*) echo "$O/inject/$c.o" ;;
	*) objects "$c" ;;
	esac
done >"$tmp/objects"
# a line "FILE:     file format ..." stands before each file's symbols
xargs objdump -t <"$tmp/objects" | awk -v O="$O/" 'NR == FNR { may[$1]; next }
	/: +file format / { c = substr($1, length(O) + 1); sub(/:$/, "", c); sub(/^inject\//, "", c); sub(/(\.c)?\.o$/, ".c", c); files++ }
	{ sub(/ \.hidden /, " ") }
	NF > 4 && $(NF - 2) ~ /^\.(data|bss|tdata|tbss)/ && $(NF - 2) !~ /\.ro/ && $0 ~ / O / {
		has[c]
		if (!(c in may)) { sub(/\.[0-9]+$/, "", $NF); print c ": " $NF } }
	END {
		if (files < 200) print "few objects: " files
		for (c in may) if (!(c in has)) print c " has none" }' "$tmp/may" - >"$tmp/out"
sort "$tmp/may" | uniq -d >>"$tmp/out"
[ ! -s "$tmp/out" ] || no "$(wc -l <"$tmp/out") variables: $(tr '\n' ';' <"$tmp/out")"

it "no variable of a file is declared twice: two of one name are one object to C, and the compiler accepts it"
# gcc has that warning in -Wc++-compat alone, among hundreds
awk '
	/^(static |const |volatile |unsigned |signed |long |short |int |char |bool |double |struct [a-z_0-9]+ |__thread |[a-z_0-9]+_t )+[*a-z_]/ &&
	!/^[^=]*[({]/ && !/^(typedef|extern)/ {
		sub(/= *\{.*/, "")
		gsub(/=[^,;]*|\[[^]]*\]/, "")
		sub(/[;\/].*/, "")
		n = split($0, declared, ",")
		for (i = 1; i <= n; i++) {
			sub(/[ \t]+$/, "", declared[i])
			sub(/.*[ *\t]/, "", declared[i])
			if (seen[FILENAME, declared[i]]++)
				print FILENAME ": " declared[i]
			count++
		}
	}
	END { if (count < 200) print "only " count + 0 " variables" }' common/*/*.c tools/*.c tools/*/*.c agent/*/*.c bpf/*.c gpu/*.c arch/*/*.c arch/*/*/*.c >"$tmp/out"
[ ! -s "$tmp/out" ] || no "$(tr '\n' ';' <"$tmp/out")"

it "a static function has no other's name in its room: a breakpoint, a profile and a tag mean one"
awk '/^static [^;=()]*[^a-zA-Z_0-9][a-z_0-9]+\(/ {
		sub(/\(.*/, ""); sub(/.*[^a-zA-Z_0-9]/, "")
		room = FILENAME; sub(/\/[^\/]*$/, "", room)
		if (!seen[FILENAME, $0]++) print room, $0	# some have a prototype
	}' agent/*/*.c common/*/*.c tools/*/*.c | sort >"$tmp/static"
[ "$(wc -l <"$tmp/static")" -gt 2000 ] || no "few functions"
uniq -d "$tmp/static" | grep -v ' __attribute__$' >"$tmp/out"
lines 0 ''

it "user space names maps and programs by abi/bpf_names.h, and bpf/ defines each of them"
sed -nE 's/^#define (MAP|PROG|SECTION)_[A-Z_]+[[:space:]]+"([^"]+)".*/\1 \2/p; s/^#define (SECTION_[A-Z_]+).*/\1/p' common/abi/bpf_names.h |
	while read -r kind name; do
		case $kind in
		SECTION_*) grep -qF "SEC($kind)" bpf/lib/*.h || echo "$kind" ;;
		SECTION) ;;
		*) grep -qwF -e "$name" bpf/*.c bpf/lib/*.h || echo "$name" ;;
		esac
	done >"$tmp/out"
grep -nE 'find_(map|program|map_fd)_by_name\([^"]*"' -r common tools agent >>"$tmp/out"
lines 0 ''

it "bpf/lib/hooks.bpf.h lists each hook that a BPF program may define"
sed -nE 's/^ \*  ([A-Z_]+) .*/\1/p' bpf/lib/hooks.bpf.h | sort >"$tmp/listed"
sed -nE 's/^#ifn?def ([A-Z][A-Z_]*[A-Z])$/\1/p' bpf/lib/*.h | grep -v '_BPF_H$' |
	sed 's/^CUDA_BESIDE_ENDS$/&\nCUDA_BESIDE_LEAVE/; s/^CUDA_HIT$/&\nCUDA_HIT_ENDS/' | sort -u >"$tmp/hooks"
diff "$tmp/listed" "$tmp/hooks" >"$tmp/out"
lines 0 ''

it "a pointer to a function of NVML is named by words of the function"
awk -F'[(,]' '/^\tX\([a-z]/ {
		n = split($2, word, "_")
		for (i = 1; i <= n; i++)
			if (!index(tolower($0), "nvml") || !index(tolower($4), word[i])) print $2
		count++
	}
	END { if (count < 15) print "only " count + 0 }' common/nvml/nvml.c >"$tmp/out"
[ ! -s "$tmp/out" ] || no "$(tr '\n' ';' <"$tmp/out")"

it "no object can be made from either of two sources: make would choose without a word"
make -qp O="$O" 2>/dev/null | awk -F': *' '/^[^#\t ].*%[^ ]*\.o: .*%/ { split($2, from, " "); print $1, from[1] }' >"$tmp/patterns"
find agent bpf common examples gpu tests tools -type f -name '*.c*' >"$tmp/sources"
awk 'NR == FNR { target[NR] = $1; source[NR] = $2; sub(/tests\/\.\.\//, "", source[NR]); n = NR; next }
	{
		for (i = 1; i <= n; i++) {
			at = index(source[i], "%")
			head = substr(source[i], 1, at - 1)
			tail = substr(source[i], at + 1)
			stem = length($0) - length(head tail)
			if (!at || stem < 1 || substr($0, 1, at - 1) != head || substr($0, at + stem) != tail)
				continue
			object = target[i]
			sub(/%/, substr($0, at, stem), object)
			if (object in made && made[object] != $0)
				print object ": " made[object] " and " $0
			made[object] = $0
			count++
		}
	}
	END { if (count < 500) print "only " count " objects" }' "$tmp/patterns" "$tmp/sources" >"$tmp/out"
[ ! -s "$tmp/out" ] || no "$(tr '\n' ';' <"$tmp/out")"

it "tests/layout.rooms has every folder, and no others"
find agent common bpf gpu scripts tests man docs -mindepth 1 -type d ! -path 'tests/*/*' | sort >"$tmp/folders"
{ rows 2; rows 3; } | cut -d'|' -f1 >"$tmp/named"
while read -r folder; do
	grep -qxF "$folder" "$tmp/named" || no "$folder"
done <"$tmp/folders"
while read -r folder; do
	case $folder in
	*/TOOL*) ;;
	arch/ARCH*) [ -d "arch/x86${folder#arch/ARCH}" ] || no "there is no $folder" ;;
	*) [ -d "$folder" ] || no "there is no $folder" ;;
	esac
done <"$tmp/named"

# ---- What takes seconds

long || leave

# alone COMMAND: of each header of the input; those that do not compile alone, and how they fail
alone() {
	while read -r h; do
		echo "#include \"$h\"" | "$@" -x c - 2>"$tmp/said" && continue
		# it may say what is to be included before it
		said=$(sed -n 's/.* error: //p' "$tmp/said" | sed 's/^#error //; s/ \[-W.*//; s/"//g')
		find "common/$h" "tools/$h" "bpf/$h" "$h" -exec sed -n 's/^# *error  *//p' {} + 2>/dev/null |
			tr -d '"' | grep -qxF -- "$said" || echo "$h: $said"
	done
}

it "each header compiles alone"
(cd common && find . -name '*.h'; cd ../tools && find . -name '*.h'; cd .. && find agent -name '*.h') | sed 's|^\./||' | sort >"$tmp/headers"
# shellcheck disable=SC2086 # the compiler may be several words
alone ${CC:-cc} -fsyntax-only -Wfatal-errors -std=gnu11 -iquote common -iquote tools -iquote arch/x86 -iquote "$O" -iquote . <"$tmp/headers" >"$tmp/out"
[ ! -s "$tmp/out" ] || no "$(tr '\n' ';' <"$tmp/out")"
[ "$(wc -l <"$tmp/headers")" -gt 50 ] || no "there are few headers"

it "each header of bpf/lib compiles alone for BPF, or says what is to stand before it"
(cd bpf && ls lib/*.h) >"$tmp/headers"
alone "${CLANG:-clang}" -fsyntax-only -Wfatal-errors -target bpf -D__TARGET_ARCH_x86 -iquote common -iquote bpf -iquote arch/x86 -iquote "$O" -iquote . \
	-idirafter "/usr/include/$(${CC:-cc} -dumpmachine)" <"$tmp/headers" >"$tmp/out"
[ ! -s "$tmp/out" ] || no "$(tr '\n' ';' <"$tmp/out")"
