/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* hostile elf KIND FILE  makes a shared library that is made to keep its reader busy or to take
 *                        its memory: strings, symbols, sections, names
 * hostile symbol N       allocates N times in a function whose name takes hours to demangle
 * hostile unreadable     registers a kernel whose name cannot be read: who tries waits
 *                        (prints "ready" before and reads a line; stays until it is killed)
 */
#include <elf.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cuda_api.h"

enum { SECTIONS = 4, SYMBOLS = 1 << 17, AT = 4096, MiB = 1 << 20 };

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

/* The symbols are at AT, their names a MiB times four on; what is not written is a hole. */
static void make_elf(const char *kind, const char *file)
{
	static struct { Elf64_Ehdr head; Elf64_Phdr load; Elf64_Shdr sections[SECTIONS]; } elf;
	static Elf64_Sym symbols[SYMBOLS];
	const off_t strings = 4 * MiB, tib = (off_t)MiB * MiB;
	static char names[16 * MiB];
	int fd = open(file, O_RDWR | O_CREAT | O_TRUNC, 0644);

	memcpy(elf.head.e_ident, ELFMAG "\2\1\1", 7);
	elf.head.e_type = ET_DYN;
	elf.head.e_machine = EM_X86_64;
	elf.head.e_version = EV_CURRENT;
	elf.head.e_phoff = sizeof(elf.head);
	elf.head.e_shoff = sizeof(elf.head) + sizeof(elf.load);
	elf.head.e_ehsize = sizeof(elf.head);
	elf.head.e_phentsize = sizeof(elf.load);
	elf.head.e_phnum = 1;
	elf.head.e_shentsize = sizeof(*elf.sections);
	elf.head.e_shnum = SECTIONS;
	elf.head.e_shstrndx = 3;
	elf.load = (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = AT };
	elf.sections[1] = (Elf64_Shdr){ .sh_type = SHT_SYMTAB, .sh_offset = AT, .sh_link = 2,
					.sh_size = sizeof(symbols), .sh_entsize = sizeof(*symbols) };
	elf.sections[2] = (Elf64_Shdr){ .sh_type = SHT_STRTAB, .sh_offset = strings,
					.sh_size = sizeof(names) };
	elf.sections[3] = (Elf64_Shdr){ .sh_type = SHT_STRTAB, .sh_offset = strings, .sh_size = 1 };
	memset(names + 1, 'a', sizeof(names) - 2);
	for (int i = 0; i < SYMBOLS; i++)
		symbols[i] = (Elf64_Sym){ .st_name = 1, .st_info = STT_FUNC, .st_shndx = 1 };
	if (!strcmp(kind, "strings"))
		elf.sections[2].sh_size = tib / 2;
	else if (!strcmp(kind, "symbols"))
		elf.sections[1].sh_size = tib / 2;
	else if (!strcmp(kind, "sections"))
		elf.head.e_shnum = 0, elf.sections[0].sh_size = 1ull << 32;
	if (fd < 0 || ftruncate(fd, tib) || write(fd, &elf, sizeof(elf)) != sizeof(elf) ||
	    pwrite(fd, symbols, sizeof(symbols), AT) != sizeof(symbols) ||
	    pwrite(fd, names, sizeof(names), strings) != sizeof(names))
		fail(file);
}

/* Forty types, each of which has the one before twice, and a parameter pack of the last. */
#define SLOW "_Z1fI1aIiiES0_IS1_S1_ES0_IS2_S2_ES0_IS3_S3_ES0_IS4_S4_ES0_IS5_S5_ES0_IS6_S6_ES0_IS7_S7_E" \
	"S0_IS8_S8_ES0_IS9_S9_ES0_ISA_SA_ES0_ISB_SB_ES0_ISC_SC_ES0_ISD_SD_ES0_ISE_SE_ES0_ISF_SF_E" \
	"S0_ISG_SG_ES0_ISH_SH_ES0_ISI_SI_ES0_ISJ_SJ_ES0_ISK_SK_ES0_ISL_SL_ES0_ISM_SM_ES0_ISN_SN_E" \
	"S0_ISO_SO_ES0_ISP_SP_ES0_ISQ_SQ_ES0_ISR_SR_ES0_ISS_SS_ES0_IST_ST_ES0_ISU_SU_ES0_ISV_SV_E" \
	"S0_ISW_SW_ES0_ISX_SX_ES0_ISY_SY_ES0_ISZ_SZ_ES0_IS10_S10_ES0_IS11_S11_ES0_IS12_S12_E" \
	"S0_IS13_S13_ES0_IS14_S14_EEDpS15_v"

int slow(void) __asm__(SLOW);

__attribute__((noinline)) int slow(void)
{
	void *p;
	int ret = cudaMalloc(&p, 4096);

	__asm__ volatile("" : : "r"(p) : "memory");
	return ret;
}

static void wait_for_go(void)
{
	puts("ready");
	fflush(stdout);
	getchar();
}

static void unreadable(void)
{
	extern void **__cudaRegisterFatBinary(void *);
	extern void __cudaRegisterFunction(void **, const char *, char *, const char *, int, void *,
					   void *, void *, void *, int *);
	static struct { int magic, version; const void *data; void *unused; } binary;
	struct uffdio_api api = { .api = UFFD_API };
	char *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct uffdio_register range = { .range = { (unsigned long)page, 4096 },
					 .mode = UFFDIO_REGISTER_MODE_MISSING };
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC);
	void **handle;

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &range))
		fail("userfaultfd");
	wait_for_go();
	handle = __cudaRegisterFatBinary(&binary);
	__cudaRegisterFunction(handle, (const char *)(unsigned long)slow, NULL, page, -1, NULL, NULL,
			       NULL, NULL, NULL);
	pause();
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "elf") && argc == 4)
		make_elf(argv[2], argv[3]);
	else if (!strcmp(what, "symbol") && argc == 3)
		for (int i = atoi(argv[2]); i > 0; i--)
			slow();
	else if (!strcmp(what, "unreadable"))
		unreadable();
	else
		return 2;
	return 0;
}
