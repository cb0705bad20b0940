# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# @from|FILE|A|B of templates, for template.awk and probe_template.awk: prints the lines of FILE from line A up to the line
# before B.  They have fail(), which ends them.
function from(file, a, b,   line, on, any) {
	while ((getline line < file) > 0) {
		if (line == a) on = 1
		if (on && line == b) { any = 1; break }
		if (on) print line
	}
	close(file)
	if (!any) fail(FILENAME ":" FNR ": " file " has no lines from '" a "' to '" b "'")
}
