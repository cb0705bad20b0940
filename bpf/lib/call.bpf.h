/* SPDX-License-Identifier: GPL-2.0 */
/* A call of a function of cuda_api.tbl: its id, arguments and result. */
#ifndef LIB_CALL_BPF_H
#define LIB_CALL_BPF_H
#include "lib/lost.bpf.h"
#include "machine/regs.bpf.h"
#include "abi/stream.h"
#include "abi/watch_event.h"
#include "api/cuda_api.h"

static const struct cuda_args cuda_rows[] = {
#define CUDA_API(name, lib, class, ...) { __VA_ARGS__ },
#include "cuda_api.def"
#undef CUDA_API
};

static const unsigned char cuda_classes[] = {
#define CUDA_API(name, lib, class, ...) CUDA_##class,
#include "cuda_api.def"
#undef CUDA_API
};

static const unsigned char cuda_libs[] = {
#define CUDA_API(name, lib, class, ...) CUDA_##lib,
#include "cuda_api.def"
#undef CUDA_API
};

/* Return true if a call that is entered with the stack pointer now is inside the one that was entered with sp, or in its place: the
 * traced function ended with a jump to another one.  sp 0: there is none. */
static __always_inline bool call_inside(__u64 now, __u64 sp)
{
	return sp && now <= sp && is_armed(sp);
}

/* Return true at the return of the call that was entered with sp; 0: there is none. */
static __always_inline bool call_returns(struct pt_regs *ctx, __u64 sp)
{
	return sp && PT_REGS_SP(ctx) == sp + CALL_POPS;
}

/* The cookie of a probe, without the flags and the generation of its link and the number of its file. */
static __always_inline __u64 id_of_cookie(__u64 cookie)
{
	const __u64 probe = (1ull << COOKIE_GENERATION_SHIFT) - 1;

	return cookie & probe & ~(__u64)(COOKIE_SHARED | COOKIE_OWN | COOKIE_DRIVER);
}

static __always_inline __u64 probe_cookie(void *ctx)
{
	return id_of_cookie(bpf_get_attach_cookie(ctx));
}

/* The id of the function probed here; CUDA_ID_MAX if the cookie is not an id. */
static __always_inline __u64 cuda_id(void *ctx)
{
	__u64 id = probe_cookie(ctx);

	return id < CUDA_ID_MAX ? id : CUDA_ID_MAX;
}

/* A traced call. */
struct call {
	__u64 sp;		/* at its entry; 0 = the thread is in no call */
	__u64 start;		/* bpf_ktime_get_ns(), or 0: see CUDA_TIMED */
	__u64 id;
	__u64 args[CALL_REGISTERS + 2];	/* [1] to [CALL_REGISTERS]: the argument registers; [0] = 0 */
#ifdef CALL_DATA
	CALL_DATA data;
#endif
};

/* Where the argument at this place, CALL_REGISTERS + 1 or higher, is; sp: the stack pointer at the entry. */
static __always_inline __u64 stack_arg_at(__u64 sp, __u64 place)
{
	return sp + CALL_STACK + 8 * (place - CALL_REGISTERS - 1);
}

COLD_IN_USER __u64 stack_arg(const struct call *call, __u64 place)
{
	return read_u64(stack_arg_at(call->sp, place));
}

/* The word that is passed at a place without CUDA_BY_REFERENCE. */
static __always_inline __u64 passed_word(const struct call *call, __u64 at)
{
	barrier_var(at);	/* the register that is compared is the one that is used */
	if (at <= CALL_REGISTERS)
		return call->args[checked(at, CALL_REGISTERS)];
	return stack_arg(call, at);
}

/* The address of a struct larger than 16 bytes that is passed by value. */
static __always_inline __u64 struct_arg_at(const struct call *call, unsigned char pos)
{
	return CALL_REFERENCES ? passed_word(call, pos & ~CUDA_BY_REFERENCE) : stack_arg_at(call->sp, pos);
}

/* Argument number pos of cuda_args, at the entry, or its first word; 0 if the function has no such argument. */
static __always_inline __u64 cuda_arg(const struct call *call, unsigned char pos)
{
	if (CALL_REFERENCES && pos & CUDA_BY_REFERENCE)
		return read_u64(struct_arg_at(call, pos));
	return passed_word(call, pos);
}

/* Word n, from 0, of a struct larger than 16 bytes that is passed by value. */
static __always_inline __u64 struct_arg(const struct call *call, unsigned char pos, __u32 n)
{
	return CALL_REFERENCES ? read_u64(struct_arg_at(call, pos) + 8 * n) : cuda_arg(call, pos + n);
}

/* The location in the arguments of a call, as device_of_location() takes it.  Call at the entry. */
static __always_inline __u64 location_arg(const struct call *call, const struct cuda_args *row)
{
	__u64 passed = cuda_arg(call, row->location);

	return row->location_at ? read_u64(passed + row->location_at - 1) : passed;
}

static __always_inline void keep_arguments(struct call *call, struct pt_regs *ctx)
{
	CALL_REGISTER_ARGS(ctx, call->args + 1);
}

/* Result of the ending call: 0 is success.  One function returns nothing. */
static __always_inline __s32 call_result(struct pt_regs *ctx, const struct call *call)
{
	return call->id == CUDA_ID___cudaRegisterFunction ? 0 : (__s32)PT_REGS_RC(ctx);
}

/* The classes of work that is in a default stream if no other is passed (CUDA Programming Guide,
 * "Default Stream"); other functions without a stream work in none, or in all. */
#define STREAM_CLASSES (1u << CUDA_COPY | 1u << CUDA_SET | 1u << CUDA_LAUNCH)

/* The stream of a call that passes this one. */
static __always_inline __u64 stream_passed(__u64 passed, __u64 id)
{
	return passed ?: cuda_rows[id].per_thread ? STREAM_PER_THREAD : STREAM_LEGACY;
}

/* Call at the entry of a call. */
static __always_inline __u64 stream_in(const struct call *call, __u64 id)
{
	const struct cuda_args *row = &cuda_rows[id];
	bool config = cuda_classes[id] == CUDA_LAUNCH && row->params;
	__u64 passed = 0;

	if (config && row->count)	/* each in one of its own */
		return 0;
	if (config)
		passed = read_u64(cuda_arg(call, row->params) + CUDA_CONFIG_STREAM);
	else if (row->stream)
		passed = cuda_arg(call, row->stream);
	else if (!(STREAM_CLASSES & 1u << cuda_classes[id]))
		return 0;
	return stream_passed(passed, id);
}

#endif
