/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <ctype.h>
#include <string.h>
#include "base/util.h"
#include "kernels/name_items.h"

/* Arguments nested deeper are not read: a name can have thousands of brackets. */
enum { DEEPEST = 24 };

/* A position in the name. */
struct reader {
	struct name_items *items;
	const char *at;
	int depth;
	int owner;
	int operations;		/* classes nested up to so deep are operations, whatever their names */
	bool family, outer;	/* the kernel is of a ROLE_FAMILY, a ROLE_OUTER */
	bool function;		/* in nvcc's name of a lambda, or a function's address: types of functions follow from their names */
};

/* ---- What is known of names */

enum role {
	ROLE_NONE,
	ROLE_NOISE,		/* omitted, with its arguments */
	ROLE_FAMILY_NOISE,	/* likewise in kernels of a ROLE_FAMILY */
	ROLE_FRAME,		/* its arguments count, not its name */
	ROLE_FRAME_FIRST,	/* the same, but only the first one of its types, unless it is a pointer, and of its numbers */
	ROLE_FRAME_INNER,	/* only what is in those of its arguments that are classes */
	ROLE_FRAME_LAMBDA,	/* the function among its arguments is the operation */
	ROLE_OPERATION,
	ROLE_OPERATION_FIRST,	/* with the first one of its types, and of its numbers */
	ROLE_TYPE,
	ROLE_COMPLEX,
	ROLE_WORD,
	/* of kernels */
	ROLE_KERNEL,
	ROLE_FAMILY,		/* each class in the arguments is an operation */
	ROLE_OUTER,		/* each class that is an argument itself is one, not those in it */
};

struct known {
	enum role role;
	const char *text;	/* as in the short name */
	size_t len;
};

/* Names, some with what they are called in short names; each ends in a space. */
static const struct { enum role role; const char *names; } table[] = {
	{ ROLE_TYPE, "Half=half half_t=half __half=half BFloat16=bf16 bfloat16_t=bf16 __nv_bfloat16=bf16 tfloat32_t=tf32 "
		"Float8_e4m3fn=e4m3fn Float8_e5m2=e5m2 Float8_e4m3fnuz=e4m3fnuz Float8_e5m2fnuz=e5m2fnuz "
		"Float8_e8m0fnu=e8m0fnu float_e4m3_t=e4m3 float_e5m2_t=e5m2 __nv_fp8_e4m3=e4m3 __nv_fp8_e5m2=e5m2 " },
	{ ROLE_COMPLEX, "complex " },
	/* PyTorch: kernels */
	{ ROLE_FAMILY, "elementwise_kernel=elementwise vectorized_elementwise_kernel=vectorized "
		"unrolled_elementwise_kernel=unrolled elementwise_kernel_manual_unroll=manual_unroll "
		"vectorized_templated_elementwise_kernel=vectorized_templated "
		"unrolled_elementwise_kernel_for_multi_outputs=multi_outputs elementwise_kernel_with_index=with_index "
		"index_elementwise_kernel=index_elementwise reduce_kernel=reduce multi_tensor_apply_kernel=foreach "
		"distribution_elementwise_grid_stride_kernel=distribution " },
	{ ROLE_KERNEL, "tensor_kernel_scan_outer_dim=scan_outer tensor_kernel_scan_outer_dim_with_indices=scan_outer_indices "
		"tensor_kernel_scan_innermost_dim=scan_inner tensor_kernel_scan_innermost_dim_with_indices=scan_inner_indices "
		"flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel=flash_bwd_dq_dk_dv " },
	/* and what they are made of */
	{ ROLE_OPERATION, "Copy ReduceAdd=Add ReduceMultiply=Mul ReduceMinimum=Minimum ReduceMaximum=Maximum " },
	{ ROLE_OPERATION_FIRST, "AUnaryFunctor=AUnary BUnaryFunctor=BUnary BinaryFunctor=Binary BinaryOpScalarFunctor=Scalar "
		"BinaryOpScalarListFunctor=ScalarList BinaryOpScalarTensorFunctor=ScalarTensor BinaryOpListAlphaFunctor=ListAlpha "
		"PointwiseOpScalarFunctor=Scalar PointwiseOpScalarListFunctor=ScalarList PointwiseOpListFunctor=List "
		"TernaryOpListFunctor=List TernaryOpScalarFunctor=Scalar TernaryOpScalarListFunctor=ScalarList " },
	{ ROLE_FRAME, "func_wrapper_t op_wrapper_t gpu_kernel gpu_kernel_impl_nocast gpu_kernel_with_scalars "
		"opmath_gpu_kernel_with_scalars gpu_index_kernel Flash_fwd_kernel_traits Flash_bwd_kernel_traits "
		"OpaqueType enable_sm80 enable_sm90 enable_sm90_or_later " },
	{ ROLE_FRAME_FIRST, "UnaryOpFunctor CopyFunctor " },
	{ ROLE_FRAME_INNER, "ReduceOp " },
	{ ROLE_WORD, "LoadWithCast=cast gpu_kernel_impl=cast " },
	{ ROLE_FAMILY_NOISE, "array Array OffsetCalculator TrivialOffsetCalculator " },
	{ ROLE_NOISE, "TensorListMetadata TensorListScalarListMetadata FusedOptimizerTensorListMetadata LoadWithoutCast StoreWithoutCast StoreWithCast Flash_kernel_traits " },
	/* CUB, Thrust, CUTLASS, lambdas of nvcc */
	{ ROLE_OUTER, "Kernel= Kernel2= device_kernel " },
	{ ROLE_FRAME, "policy_hub device_ptr counting_iterator transform_iterator tuple "
		"__callable_permitting_copied_arguments __nv_dl_wrapper_t " },
	{ ROLE_FRAME_LAMBDA, "__nv_dl_tag __nv_dl_trailing_return_tag " },
	{ ROLE_FRAME_FIRST, "__nv_hdl_wrapper_t " },
	{ ROLE_NOISE, "NullType ScanTileState identity_decomposer_t VSMemHelper streaming_context_t always_true_predicate "
		"use_default compile_time_value no_stencil_tag " },
	{ ROLE_OPERATION, "compute_sequence_value=sequence " },
	/* C++ */
	{ ROLE_OPERATION, "plus minus multiplies divides modulus negate maximum minimum less less_equal greater greater_equal "
		"equal_to not_equal_to logical_and logical_or bit_and bit_or bit_xor " },
};

/* As in CUDA's names of vectors; the longer ones first. */
static const struct { const char *text, *word; } builtin[] = {
	{ "unsigned long long", "ullong" }, { "unsigned long", "ulong" }, { "unsigned int", "uint" },
	{ "unsigned short", "ushort" }, { "unsigned char", "uchar" }, { "unsigned __int128", "uint128" },
	{ "signed char", "schar" }, { "long long", "llong" }, { "long double", "long_double" }, { "long", "long" }, { "int", "int" },
	{ "short", "short" }, { "char", "char" }, { "bool", "bool" }, { "float", "float" }, { "double", "double" },
	{ "__int128", "int128" }, { "void", NULL },
};

static struct known name_items_find(const char *text, size_t len)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		for (const char *at = table[i].names, *end; *at; at = end + 1) {
			size_t n = strcspn(at, "= ");

			end = strchr(at, ' ');
			if (n == len && !memcmp(at, text, len))
				return at[n] == '=' ? (struct known){ table[i].role, at + n + 1, end - at - n - 1 } :
					(struct known){ table[i].role, text, len };
		}
	return (struct known){ ROLE_NONE, text, len };
}

static bool ends(const char *text, size_t len, const char *end)
{
	size_t n = strlen(end);

	return len > n && !memcmp(text + len - n, end, n);
}

/* Shortens the name of an operation to what it does, "CUDAFunctor_add" to "add". */
static void trim(const char **text, size_t *len)
{
	static const char *const ends_with[] = {
		"_kernel_cuda", "_cuda_kernel", "CUDAKernelImpl", "_kernel_impl", "_kernel", "_cuda", "Functor", "_functor",
		"Ops", "Op", "_op", "Epilogue",
	};
	static const char *const begins_with[] = { "CUDAFunctorOnSelf_", "CUDAFunctor_", "CUDAFunctorOnOther_" };

	for (size_t i = 0; i < sizeof(begins_with) / sizeof(*begins_with); i++) {
		size_t n = strlen(begins_with[i]);

		if (*len > n && !strncmp(*text, begins_with[i], n)) {
			*text += n;
			*len -= n;
		}
	}
	for (size_t i = 0; i < sizeof(ends_with) / sizeof(*ends_with); i++)
		if (ends(*text, *len, ends_with[i])) {
			*len -= strlen(ends_with[i]);
			return;
		}
}

static bool is_operation(const char *text, size_t len)
{
	if (ends(text, len, "Op") || ends(text, len, "Ops") || ends(text, len, "_op") ||
	    ends(text, len, "wardEpilogue"))
		return true;
	for (size_t i = 0; i + 6 <= len; i++)
		if (!memcmp(text + i, "unctor", 6))
			return true;
	return false;
}

/* ---- Reading */

static bool in_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || (c & 0x80);
}

static bool starts(const char *at, const char *text)
{
	return !strncmp(at, text, strlen(text));
}

static bool name_items_take(struct reader *r, const char *text)
{
	bool there = starts(r->at, text);

	r->at += there ? strlen(text) : 0;
	return there;
}

/* Returns the position after the bracket that closes the one at at; or the end. */
static const char *close_of(const char *at)
{
	int open = 0;

	do {
		open += *at == '(' || *at == '<' || *at == '[' || *at == '{';
		open -= *at == ')' || (*at == '>' && at[-1] != '-') || *at == ']' || *at == '}';
	} while (*at && at++ && open);
	return at;
}

static struct name_item *name_items_add(struct reader *r, enum item_kind kind, const char *text, size_t len)
{
	struct name_items *items = r->items;

	if (items->n == NAME_ITEMS) {
		items->truncated = true;
		return &items->all[NAME_ITEMS - 1];
	}
	items->all[items->n] = (struct name_item){ .kind = kind, .text = text, .len = len, .owner = r->owner };
	return &items->all[items->n++];
}

static void read_argument(struct reader *r);

/* Moves to the comma or bracket at the end of an argument: what is before it was not understood. */
static void skip_rest(struct reader *r, const char *end)
{
	r->at += strspn(r->at, " )");
	while (r->at + 1 < end && *r->at != ',') {
		r->items->skipped = true;
		r->at = strchr("(<[{", *r->at) ? close_of(r->at) : r->at + 1;
	}
}

/* Reads the arguments in the brackets at r->at, as those of a new owner unless it is the kernel. */
static void read_arguments(struct reader *r, int owner)
{
	const char *end = close_of(r->at);
	const int before = r->owner;

	r->owner = owner;
	if (++r->depth > DEEPEST)
		r->items->truncated = true;
	while (r->at < end && !r->items->truncated) {
		r->at++;	/* the bracket, or a comma */
		read_argument(r);
		skip_rest(r, end);
		if (r->at + 1 >= end)
			break;
	}
	r->at = end;
	r->depth--;
	r->owner = before;
}

/* Removes the numbers, bools and types that an owner itself has, from item "from" on; first: except for the first type and
 * number. */
static void drop_own(struct name_items *items, int from, int owner, bool first)
{
	int to = from, types = first, numbers = first;

	for (int i = from; i < items->n; i++) {
		const struct name_item *item = &items->all[i];
		bool own = item->owner == owner && item->kind != ITEM_OPERATION && item->kind != ITEM_WORD;

		if (!own || (item->kind == ITEM_TYPE && types-- > 0 && !item->stars) || (item->kind == ITEM_NUMBER && numbers-- > 0))
			items->all[to++] = *item;
	}
	items->n = to;
}

/* A component of a name, "policy_hub<int>" of "policy_hub<int>::Policy600". */
struct component {
	const char *text;
	size_t len;
	const char *arguments;	/* or NULL */
	bool function, last;
	struct known known;
};

/* Returns false for classes and functions of which only the arguments count, such as CUB's Policy600. */
static bool item_kind(const struct reader *r, const struct component *c, enum item_kind *kind)
{
	switch (c->known.role) {
	case ROLE_TYPE:
		*kind = ITEM_TYPE;
		return true;
	case ROLE_OPERATION:
	case ROLE_OPERATION_FIRST:
		*kind = ITEM_OPERATION;
		return true;
	case ROLE_WORD:
		*kind = ITEM_WORD;
		return true;
	case ROLE_NONE:
	case ROLE_FAMILY_NOISE:
		break;
	default:
		return false;
	}
	*kind = c->function || (!r->outer && is_operation(c->text, c->len)) || (c->last && r->depth <= r->operations) ?
		ITEM_OPERATION : ITEM_WORD;
	return *kind == ITEM_OPERATION || (c->last && strncasecmp(c->text, "policy", 6));
}

static void add_component(struct reader *r, const struct component *c)
{
	struct known name = c->known;
	enum item_kind kind;

	if (!item_kind(r, c, &kind))
		return;
	if (kind == ITEM_OPERATION && name.role == ROLE_NONE)
		trim(&name.text, &name.len);
	name_items_add(r, kind, name.text, name.len);
}

static void read_component(struct reader *r, const struct component *c)
{
	const enum role role = c->known.role;
	const int from = r->items->n, owner = r->items->owners++;
	const struct reader before = *r;

	if (role == ROLE_NOISE || (role == ROLE_FAMILY_NOISE && r->family))
		return;
	add_component(r, c);
	if (!c->arguments || (role == ROLE_WORD && !c->function))
		return;
	r->at = c->arguments;
	r->operations = role == ROLE_FRAME ? r->operations + 1 : role == ROLE_FRAME_LAMBDA ? r->depth + 1 : r->operations;
	r->function |= starts(c->text, "__nv_");
	read_arguments(r, owner);
	r->operations = before.operations;
	r->function = before.function;
	if (role == ROLE_FRAME_FIRST || role == ROLE_FRAME_INNER || role == ROLE_OPERATION_FIRST)
		drop_own(r->items, from, owner, role != ROLE_FRAME_INNER);
}

static void read_complex(struct reader *r, const struct component *c)
{
	const int from = r->items->n, owner = r->owner;

	if (!c->arguments)
		return;
	r->at = c->arguments;
	read_arguments(r, owner);
	for (int i = from; i < r->items->n; i++)
		r->items->all[i].complex = true;
}

/* "{lambda(float)#1}": its number, and the types that it gets, except for pointers; "{unnamed type#2}" */
static void read_lambda(struct reader *r, bool types)
{
	const char *end = close_of(r->at), *number = end - 1;

	while (number > r->at && isdigit((unsigned char)number[-1]))
		number--;
	if (number < end - 1)
		name_items_add(r, ITEM_NUMBER, number, end - 1 - number)->joined = true;
	if (name_items_take(r, "{lambda") && types && *r->at == '(' && !memchr(r->at, '*', end - r->at))
		read_arguments(r, r->items->owners++);
	r->at = end;
}

static bool is_operator(const char *text, size_t len)
{
	return len == 8 && !memcmp(text, "operator", len);
}

/* Sets the next component of a name.  Moves beyond its arguments, and parameters if it is not the last one. */
static bool take_component(struct reader *r, struct component *c)
{
	*c = (struct component){ .text = r->at };
	while (in_name(*r->at))
		r->at++;
	if (is_operator(c->text, r->at - c->text) && !name_items_take(r, "()"))
		r->at += strcspn(r->at, "(,>");
	c->len = r->at - c->text;
	if (!c->len)
		return false;
	while (starts(r->at, "[abi:"))
		r->at = close_of(r->at);
	if (*r->at == '<') {
		c->arguments = r->at;
		r->at = close_of(r->at);
	}
	if (*r->at == '(') {
		const char *end = close_of(r->at);

		end += starts(end, " const") ? 6 : 0;
		if (starts(end, "::")) {
			c->function = true;
			r->at = end;
		}
	}
	c->function |= starts(r->at, "::{");
	c->last = !starts(r->at, "::");
	c->known = name_items_find(c->text, c->len);
	return true;
}

/* Reads a class, function or lambda with its namespaces, "at::native::Mul<float>". */
static void read_path(struct reader *r)
{
	bool known = false;	/* the function that a lambda is in */
	struct component c;
	const char *after;

	do {
		while (name_items_take(r, "(anonymous namespace)::"))
			;
		if (*r->at == '{') {
			read_lambda(r, !known);
			continue;
		}
		if (!take_component(r, &c))
			return;
		after = r->at;
		if (c.known.role == ROLE_COMPLEX)
			read_complex(r, &c);
		else if (!is_operator(c.text, strcspn(c.text, "(")) && (c.last || c.arguments || c.function))
			read_component(r, &c);
		known |= c.function && c.known.role != ROLE_NONE;
		r->at = after;
	} while (name_items_take(r, "::"));
}

static bool read_builtin(struct reader *r)
{
	for (size_t i = 0; i < sizeof(builtin) / sizeof(*builtin); i++) {
		size_t len = strlen(builtin[i].text);

		if (!starts(r->at, builtin[i].text) || in_name(r->at[len]))
			continue;
		r->at += len;
		if (builtin[i].word)
			name_items_add(r, ITEM_TYPE, builtin[i].word, strlen(builtin[i].word));
		return true;
	}
	return false;
}

static bool read_number(struct reader *r)
{
	const char *from = r->at;

	r->at += *r->at == '-';
	if (!isdigit((unsigned char)*r->at)) {
		r->at = from;
		return false;
	}
	while (isalnum((unsigned char)*r->at) || *r->at == '.')
		r->at++;
	name_items_add(r, ITEM_NUMBER, from, strcspn(from, "ulUL,> )"));
	return true;
}

/* Moves beyond what follows a type: "const*", and the parameters of a function.  Returns the number of '*'. */
static int skip_declarator(struct reader *r)
{
	int stars = 0;

	for (;;) {
		while (*r->at == ' ' || *r->at == '*' || *r->at == '&')
			stars += *r->at++ == '*';
		if (*r->at == '(' ? starts(r->at, "(anonymous") : *r->at != '[' && !starts(r->at, "const") && !starts(r->at, "volatile"))
			return stars;
		if (*r->at == '(' || *r->at == '[') {
			r->items->skipped |= !r->function;
			r->at = close_of(r->at);
		} else if (!name_items_take(r, "const") && !name_items_take(r, "volatile")) {
			return stars;
		}
	}
}

static bool begins_name(const char *at)
{
	return in_name(*at) || *at == '{' || starts(at, "(anonymous");
}

/* A type or function; its return type may be before it. */
static void name_items_read_name(struct reader *r)
{
	const int from = r->items->n;
	const char *at;

	do {
		int stars;

		at = r->at;
		r->items->n = from;
		if (!read_builtin(r))
			read_path(r);
		stars = skip_declarator(r);
		if (r->items->n > from)
			r->items->all[from].stars = stars;
	} while (r->at != at && strchr(" *&", r->at[-1]) && begins_name(r->at));
}

static bool read_bool(struct reader *r)
{
	size_t len = starts(r->at, "true") ? 4 : starts(r->at, "false") ? 5 : 0;

	if (!len || in_name(r->at[len]))
		return false;
	name_items_add(r, ITEM_BOOL, r->at, len);
	r->at += len;
	return true;
}

/* One argument, up to the comma or bracket after it. */
static void read_argument(struct reader *r)
{
	const bool before = r->function;

	r->at += strspn(r->at, " ");
	r->function |= *r->at == '&';
	if (name_items_take(r, "&"))
		name_items_take(r, "(");
	else if (*r->at == '(' && !starts(r->at, "(anonymous"))	/* "(at::SortOrder)0" */
		r->at = close_of(r->at);
	if (!read_bool(r) && !read_number(r) && begins_name(r->at))
		name_items_read_name(r);
	r->function = before;
}

/* ---- The kernel */

/* Moves beyond the kernel's name and the arguments of its template; its last component. */
static bool read_kernel(struct reader *r, struct component *c)
{
	do {
		const char *after;

		while (name_items_take(r, "(anonymous namespace)::"))
			;
		if (!take_component(r, c))
			return false;
		after = r->at;
		if (!c->last && c->arguments && !c->function)	/* a class whose member it is */
			read_component(r, c);
		r->at = after;
	} while (name_items_take(r, "::"));
	return !*r->at || *r->at == '(';
}

bool name_items_read(struct name_items *items, const char *name)
{
	struct reader r = { .items = items, .at = name };
	struct component c;
	bool known;

	memset(items, 0, sizeof(*items));
	items->owners = 1;
	name_items_take(&r, "void ");
	items->from = r.at - name;
	if (!read_kernel(&r, &c))
		return false;
	r.family = c.known.role == ROLE_FAMILY;
	r.outer = c.known.role == ROLE_OUTER;
	r.operations = r.family ? DEEPEST : r.outer;
	items->to = r.at - name;
	if (c.arguments) {
		r.at = c.arguments;
		read_arguments(&r, 0);
	} else if (strstr(r.at, "__nv_")) {	/* kernel_of_handle() */
		items->to = strlen(name);
		r.operations = 0;
		read_arguments(&r, 0);
		drop_own(items, 0, 0, false);
	}
	known = c.known.role >= ROLE_KERNEL && (c.known.len || (items->n && items->all[0].kind == ITEM_OPERATION));
	items->family = known ? c.known.text : c.text;
	items->family_len = known ? c.known.len : c.len;
	return true;
}
