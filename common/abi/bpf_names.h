/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The names by which user space finds the maps and programs of a tool's BPF object; tests/layout.t checks that each of them is
 * defined in bpf/, and that user space writes none of them otherwise. */
#ifndef ABI_BPF_NAMES_H
#define ABI_BPF_NAMES_H

/* Variables, each the only one of a map that libbpf makes of its section. */
#define SECTION_SHARES		".data.shares"		/* aggregate_shares */
#define SECTION_DEVICE		".data.device"		/* device_state */
#define SECTION_DEVICE_CONFIG	".rodata.device"	/* device_config */
#define SECTION_FILTER		".rodata.filter"
#define SECTION_LAUNCH_GATE	".data.launch_gate"
#define SECTION_LINK_RENEWED	".data.link_renewed"
#define SECTION_LOST		".data.lost"
#define SECTION_PROCESSES	".data.processes"	/* process_shares */
#define SECTION_PYTHON		".data.python"		/* python_shared */
#define SECTION_RECORDS		".rodata.records"	/* records_bytes */
#define SECTION_STACK		".rodata.stack"		/* stack_config */

#define MAP_AGGREGATE_SLOTS	"aggregate_slots"
#define MAP_EVENTS		"events"
#define MAP_LAUNCH_GATES	"launch_gates"
#define MAP_LINK_GENERATIONS	"link_generations"
#define MAP_LOST_BY		"lost_by"
#define MAP_PROCESSES		"processes"
#define MAP_PYTHON_CODES	"python_codes"
#define MAP_PYTHON_PROCESSES	"python_processes"
#define MAP_UNWIND_PROCESSES	"unwind_processes"
#define MAP_UNWIND_TABLE	"unwind_table"
#define MAP_USDT_SETS		"usdt_sets"
#define MAP_WATCHED		"watched"

#define PROG_ENTER		"cuda_enter"
#define PROG_RETURN		"cuda_return"
#define PROG_SESSION		"cuda_session"
#define PROG_LAUNCH		"cuda_launch"
#define PROG_EMPTY		"cuda_empty"
#define PROG_PROCESS_EXIT	"process_exit"
#define PROG_THREAD_EXIT	"thread_exit"
#define PROG_TRACE_EXEC		"trace_exec"
#define PROG_TRACE_EXIT		"trace_exit"

#endif
