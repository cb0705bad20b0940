/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* inject_hostile MODE [SEED]: a program of a command that runs with --attach inject and means its tool no good.  Whatever
 * it does, it ends after some seconds, with status 43.
 *
 *   silent    connects and says nothing          garbage   messages of random bytes
 *   lies      messages with wrong sizes, versions, processes; paths and words with escapes
 *   flood     connections that are closed at once, and such as are kept
 *   bytes     random bytes at random places of the memory
 *   fields    words of the memory set to what is extreme, one at a time, the head and the maps' beginnings
 *   threads   the table of threads names others, with escapes
 *   ring      the ring buffer's positions and sizes
 *   records   records of calls changed as soon as they are written, or filled with random bytes
 *   values    what stands in the maps
 *   names     functions have no names and other flags, and another CUDA library is loaded
 *   holes     memory taken away, and the file made smaller and larger
 *   seal      the file sealed
 *   all       all of them, one after the other
 *   words     a process changes where another one's calls store their results, and looks for what they read there
 *   worker    a child, which becomes another user if it can, looks for the memory that its parent has mapped, and calls
 *   ended     the table of threads is full of its own that have ended, until it is killed
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/falloc.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "abi/agent_inject.h"
#include "cuda_api.h"

#define ESCAPES "\033[2J\033]0;x\a\n\r\"\\\x9b" "31m\xff\xe2\x80\xae"

static uint64_t state = 88172645463325252u;
static int file = -1;
static char *memory;
static size_t bytes;

static uint64_t any(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

static uint64_t extreme(void)
{
	static const uint64_t some[] = { 0, 1, 7, 0x7fffffff, 0x80000000, 0xffffffff, 0x7fffffffffffffff, 1ull << 63,
		~0ull, ~0ull - 4095, 4096, 1ull << 40 };

	return any() % 4 ? some[any() % (sizeof(some) / sizeof(*some))] : any();
}

/* The socket of the first tool; -1 if there is none. */
static int connected(void)
{
	const char *env = getenv(INJECT_SOCKETS), *name = env ? strchr(env, '=') : NULL;
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	const struct timeval soon = { 2, 0 };
	size_t length;
	int s;

	if (!name)
		return -1;
	name++;
	length = strcspn(name, " ");
	if (length > sizeof(to.sun_path) - 1)
		return -1;
	memcpy(to.sun_path + 1, name, length);
	s = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof(soon));
	setsockopt(s, SOL_SOCKET, SO_SNDTIMEO, &soon, sizeof(soon));
	if (s < 0 || connect(s, (struct sockaddr *)&to, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length))) {
		close(s);
		return -1;
	}
	return s;
}

static void tell(uint32_t version, uint32_t kind, int pid, int parent, uint32_t size, const char *text, size_t length)
{
	struct { struct inject_message_head m; char text[INJECT_PATH]; } packet = {
		.m = { version, kind, pid, parent, 1, size } };
	int s = connected();

	if (s < 0)
		return;
	if (length > sizeof(packet.text))
		length = sizeof(packet.text);
	memcpy(packet.text, text, length);
	if (send(s, &packet, sizeof(packet.m) + length, MSG_NOSIGNAL) < 0)
		perror("inject_hostile: send");
	usleep(2000);
	close(s);
}

/* Says hello as a program does, and maps what it is given. */
static void take_memory(void)
{
	const struct inject_message_head hello = { INJECT_VERSION, INJECT_HELLO, getpid(), 0, 0, 0 };
	struct inject_answer answer;
	char control[CMSG_SPACE(sizeof(int))];
	struct iovec to = { &answer, sizeof(answer) };
	struct msghdr m = { .msg_iov = &to, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control) };
	struct cmsghdr *c;
	int s = connected();

	if (s < 0 || send(s, &hello, sizeof(hello), MSG_NOSIGNAL) < 0 || recvmsg(s, &m, 0) != sizeof(answer)) {
		fprintf(stderr, "inject_hostile: no answer\n");
		return;
	}
	close(s);
	c = CMSG_FIRSTHDR(&m);
	if (!c || c->cmsg_type != SCM_RIGHTS)
		return;
	memcpy(&file, CMSG_DATA(c), sizeof(file));
	bytes = answer.bytes;
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (memory == MAP_FAILED)
		memory = NULL;
	else
		fprintf(stderr, "inject_hostile: has the memory\n");
}

static void calls(int n)
{
	void *p;

	for (; n > 0; n--)
		cudaMalloc(&p, 64);
}

static void silent(void)
{
	int i;

	for (i = 0; i < 7; i++)
		connected();
}

static void garbage(void)
{
	char packet[8192];
	int i, s;
	size_t k;

	for (i = 0; i < 200; i++) {
		s = connected();
		if (s < 0)
			return;
		for (k = 0; k < sizeof(packet); k++)
			packet[k] = (char)any();
		if (send(s, packet, any() % sizeof(packet), MSG_NOSIGNAL) < 0 && i == 0)
			perror("inject_hostile: send");
		close(s);
	}
}

static void lies(void)
{
	static char longest[INJECT_PATH];
	uint32_t kind;

	memset(longest, 'x', sizeof(longest));
	for (kind = 0; kind < 9; kind++) {
		tell(INJECT_VERSION, kind, 1, 1, sizeof(ESCAPES), ESCAPES, sizeof(ESCAPES));
		tell(INJECT_VERSION, kind, -1, -1, INJECT_PATH, longest, sizeof(longest));
		tell(INJECT_VERSION, kind, getppid(), getppid(), 0xffffffff, ESCAPES, 3);
		tell(INJECT_VERSION, kind, getpid(), getpid(), 12, "/etc/passwd", 12);
		tell(INJECT_VERSION, kind, getpid(), getpid(), 14, "/dev/zero\n" ESCAPES, 14);
		tell(INJECT_VERSION + 1, kind, getpid(), 0, 0, "", 0);
		tell(INJECT_VERSION, kind | 0x80000000, getpid(), 0, 0, "", 0);
	}
}

static void flood(void)
{
	int i, s;

	for (i = 0; i < 3000; i++) {
		s = connected();
		if (s < 0)
			break;
		if (i % 3)
			close(s);
	}
}

static void random_bytes(void)
{
	int i;

	for (i = 0; memory && i < 300000; i++) {
		memory[any() % bytes] = (char)any();
		/* where more stands */
		memory[any() % (bytes < 65536 ? bytes : 65536)] = (char)any();
		if (i % 10000 == 0)
			calls(1);
	}
}

static void set_words(size_t at, size_t end, int size)
{
	uint64_t was, now;

	for (; memory && at + 8 <= end && at + 8 <= bytes; at += (size_t)size) {
		now = extreme();
		memcpy(&was, memory + at, 8);
		memcpy(memory + at, &now, (size_t)size);
		if (any() % 8 == 0)
			calls(1);
		if (any() % 2)
			memcpy(memory + at, &was, (size_t)size);
	}
}

static void fields(void)
{
	struct inject_head head;
	unsigned i;

	if (!memory)
		return;
	memcpy(&head, memory, sizeof(head));
	set_words(0, sizeof(head), 4);
	for (i = 0; i < head.maps && i < INJECT_MAPS; i++)
		if (head.map[i].at < bytes)
			set_words(head.map[i].at, head.map[i].at + 4096, 8);
}

static void threads(void)
{
	struct inject_head head;
	struct inject_thread *t;
	unsigned i;

	if (!memory)
		return;
	memcpy(&head, memory, sizeof(head));
	if (head.threads_at > bytes || bytes - head.threads_at < INJECT_THREADS * sizeof(*t))
		return;
	t = (struct inject_thread *)(memory + head.threads_at);
	for (i = 0; i < INJECT_THREADS; i++) {
		t[i].tid = i % 3 ? 1 : (uint32_t)any();
		t[i].pid = i % 5 ? (uint32_t)getppid() : (uint32_t)extreme();
		t[i].parent = (uint32_t)extreme();
		t[i].used = ~0u;
		t[i].uid = (uint32_t)extreme();
		memcpy(t[i].comm, ESCAPES "xxxxxxxxxxxxxxxx", sizeof(t[i].comm));
		if (i % 1000 == 0)
			calls(1);
	}
}

static void ring(void)
{
	struct inject_head head;
	unsigned i;

	if (!memory)
		return;
	memcpy(&head, memory, sizeof(head));
	for (i = 0; i < head.maps && i < INJECT_MAPS; i++)
		if (head.map[i].type == 27 /* BPF_MAP_TYPE_RINGBUF */ && head.map[i].at < bytes) {
			calls(11);
			set_words(head.map[i].at, head.map[i].at + 3 * 4096, 8);
			set_words(head.map[i].at + 4096, head.map[i].at + 65536, 4);
		}
}

static void some_calls(void)
{
	static char host[64];
	void *p = NULL;

	cudaMalloc(&p, 64);
	cudaMemcpy(p, host, sizeof(host), cudaMemcpyHostToDevice);
	cudaFree(p);
	cudaDeviceSynchronize();
}

/* What a ring buffer got from one position to another: the tool has not read it yet, as it looks only every 10 ms.  Most of
 * it stays as it is. */
static void change(char *at, uint64_t size, uint64_t from, uint64_t to)
{
	static const uint16_t kinds[] = { 0xfffb, 0xfffc, 0xfffd, 0xfffe, 0xffff };
	uint64_t header, i, n;
	uint16_t kind;
	char *record;

	for (; to - from <= size && from < to; from += 8 + ((n + 7) & ~7ull)) {
		record = at + (from & (size - 1));
		memcpy(&header, record, 8);
		n = header & 0x3fffffff;
		if (n < 8 || n > to - from || (from & (size - 1)) + n + 8 > size)
			return;
		for (i = any() % 7; i > 0; i--)
			record[8 + any() % n] = (char)any();
		for (i = 8; any() % 11 == 0 && i < n; i++)
			record[8 + i] = (char)any();
		if (any() % 5 == 0) {
			kind = any() % 3 ? (uint16_t)(any() % 1024) : kinds[any() % 5];
			memcpy(record + 12, &kind, sizeof(kind));
		}
		if (any() % 5 == 0) {	/* how many frames */
			kind = any() % 3 ? (uint16_t)any() : (uint16_t)(n / 8 - any() % 3);
			memcpy(record + 14, &kind, sizeof(kind));
		}
		for (i = any() % 5; i > 0 && n > 16; i--) {
			header = extreme();
			memcpy(record + 16 + any() % (n - 15), &header, any() % 2 ? 8 : 4);
		}
	}
}

static void records(void)
{
	struct inject_head head;
	uint64_t from, to;
	unsigned i, n;

	if (!memory)
		return;
	memcpy(&head, memory, sizeof(head));
	for (n = 0; n < 5003; n++)
		for (i = 0; i < head.maps && i < INJECT_MAPS; i++)
			if (head.map[i].type == 27 && head.map[i].at < bytes) {
				memcpy(&from, memory + head.map[i].at, 8);
				some_calls();
				memcpy(&to, memory + head.map[i].at, 8);
				change(memory + head.map[i].at + 4096, head.map[i].max_entries, from, to);
			}
}

/* Words that are not 0: most are counts, numbers of things, or keys. */
static void change_words(char *at, uint64_t size)
{
	uint64_t word, i;

	for (i = 0; i + 8 <= size && i < 1 << 20; i += 8) {
		memcpy(&word, at + i, 8);
		if (!word || any() % 23)
			continue;
		switch (any() % 4) {
		case 0: word = extreme(); break;
		case 1: word = (word & ~0xffffffffull) | (any() % 4096); break;
		case 2: word ^= 1ull << any() % 64; break;
		case 3: word = any(); break;
		}
		memcpy(at + i, &word, 8);
	}
}

static void values(void)
{
	struct inject_head head;
	unsigned i, n;

	if (!memory)
		return;
	memcpy(&head, memory, sizeof(head));
	for (n = 0; n < 47; n++) {
		for (i = 0; i < 11; i++)
			some_calls();
		for (i = 0; i < head.maps && i < INJECT_MAPS; i++)
			if (head.map[i].type != 27 && head.map[i].at < bytes && head.map[i].bytes <= bytes - head.map[i].at)
				change_words(memory + head.map[i].at, head.map[i].bytes);
		usleep(20000);
	}
}

static void holes(void)
{
	if (file < 0)
		return;
	fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, (off_t)bytes);
	if (!ftruncate(file, 0))
		fprintf(stderr, "inject_hostile: the file can be made smaller\n");
	if (!ftruncate(file, (off_t)1 << 40))
		fprintf(stderr, "inject_hostile: the file can be made larger\n");
	calls(3);
}

static void seal(void)
{
	if (file < 0)
		return;
	fcntl(file, F_ADD_SEALS, F_SEAL_WRITE);
	fcntl(file, F_ADD_SEALS, 0x10 /* F_SEAL_FUTURE_WRITE */);
	fcntl(file, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_GROW | F_SEAL_SHRINK);
	calls(3);
}

/* Another CUDA library is loaded, by which the probes look for the functions again. */
static void names(void)
{
	const struct inject_head *head = (const struct inject_head *)memory;
	struct inject_function *f;

	if (!memory || head->functions > INJECT_FUNCTIONS || head->functions_at > bytes - INJECT_FUNCTIONS * sizeof(*f))
		return;
	f = (struct inject_function *)(memory + head->functions_at);
	for (uint32_t i = 0; i < head->functions; i++)
		f[i] = (struct inject_function){ 0xfffffff0, ~0u, ~0u, ~INJECT_OFF };
	if (!dlmopen(LM_ID_NEWLM, "libcuda.so.1", RTLD_NOW))
		fprintf(stderr, "inject_hostile: %s\n", dlerror());
}

/* Until it is killed: all free elements are of threads of its own that have ended. */
static void ended(void)
{
	struct inject_head *head = (struct inject_head *)memory;
	struct inject_thread *t = (struct inject_thread *)(memory + head->threads_at);

	head->threads_used = INJECT_THREADS;
	for (unsigned i = 64; ; i = i + 1 < INJECT_THREADS ? i + 1 : 64)
		if (!t[i].tid || t[i].tid & INJECT_LEFT) {
			t[i].pid = (uint32_t)getpid();
			t[i].start_time = 1;
			t[i].used = ~0u;
			t[i].tid = 1 + i;
		}
}

static uint64_t secret[8];

/* Where the map of that name is; NULL if there is none. */
static uint64_t *map_find(const char *name, size_t *size)
{
	struct inject_head head;

	memcpy(&head, memory, sizeof(head));
	for (unsigned i = 0; i < head.maps && i < INJECT_MAPS; i++)
		if (!strcmp(head.map[i].name, name)) {
			*size = head.map[i].bytes;
			return (uint64_t *)(memory + head.map[i].at);
		}
	return NULL;
}

/* The other process stores its results at an address that this one knows. */
static int change_arguments(uint64_t stores)
{
	const uint64_t mark = 0x6f7420656d6f7320;
	size_t in_threads = 0, in_events = 0;
	uint64_t *threads = map_find("threads", &in_threads), *events = map_find("events", &in_events);

	for (int tries = 0; tries < 20000; tries++) {
		for (size_t i = 0; i < 8192 && i < in_threads / 8; i++)
			if (threads[i] == stores)
				threads[i] = (uint64_t)secret;
		for (size_t i = 0; tries % 100 == 0 && i < in_events / 8; i++)
			if ((events[i] ^ mark) == ~0ull) {
				fprintf(stderr, "inject_hostile: has read another process\n");
				return 1;
			}
	}
	return 0;
}

static void words(void)
{
	static void *p;
	pid_t child = memory ? fork() : -1;

	if (!child) {
		take_memory();	/* a child does not inherit it */
		_exit(memory ? change_arguments((uint64_t)&p) : 2);
	}
	secret[0] = ~0x6f7420656d6f7320ull;	/* no copy of it is in the child */
	while (child > 0 && !waitpid(child, NULL, WNOHANG))
		for (int i = 0; i < 100; i++)
			cudaMalloc(&p, 64);
}

/* Return true if the whole of the memory is mapped and can be written. */
static int is_mapped(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];
	unsigned long at, end, offset;
	char rights[5];
	int found = 0;

	while (maps && fgets(line, sizeof(line), maps))
		found |= strstr(line, "memfd:cuda-bpf-tools") &&
			 sscanf(line, "%lx-%lx %4s %lx", &at, &end, rights, &offset) == 4 && !strcmp(rights, "rw-s") && !offset;
	if (maps)
		fclose(maps);
	return found;
}

static void worker(void)
{
	int mapped = is_mapped(), status = 0;
	pid_t child = fork();

	if (!child) {
		if (is_mapped())
			fprintf(stderr, "inject_hostile: a child has its parent's memory\n");
		if (!getuid() && (setgroups(0, NULL) || setgid(65534) || setuid(65534)))
			_exit(1);
		calls(3);
		_exit(0);
	}
	waitpid(child, &status, 0);
	fprintf(stderr, "inject_hostile: %s, its child ended with status %d\n", mapped ? "is traced" : "is not traced", status);
}

int main(int argc, char **argv)
{
	static const struct { const char *name; void (*run)(void); } modes[] = {
		{ "silent", silent }, { "garbage", garbage }, { "lies", lies }, { "bytes", random_bytes },
		{ "fields", fields }, { "threads", threads }, { "ring", ring }, { "records", records }, { "values", values }, { "names", names }, { "words", words },
		{ "holes", holes }, { "seal", seal },
		{ "flood", flood },
	};
	const char *mode = argc > 1 ? argv[1] : "all";
	int known = 0;
	unsigned i;

	state += argc > 2 ? strtoull(argv[2], NULL, 0) * 0x9e3779b97f4a7c15u : 0;
	calls(23);
	if (!strcmp(mode, "worker")) {
		worker();
		return 43;
	}
	take_memory();
	if (!strcmp(mode, "ended") && memory)
		ended();
	for (i = 0; i < sizeof(modes) / sizeof(*modes); i++)
		if (!strcmp(mode, "all") || !strcmp(mode, modes[i].name)) {
			modes[i].run();
			known = 1;
		}
	if (!known)
		return 2;
	calls(7);
	return 43;
}
