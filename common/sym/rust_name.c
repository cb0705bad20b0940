/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <ctype.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "sym/rust_name.h"

/* Nested parts, each 200 bytes of stack; parts in all, which back references repeat; characters of an identifier
 * in Punycode: rustc-demangle writes longer ones as they are, too. */
enum { MAX_DEPTH = 300, MAX_PARTS = 50000, MAX_PUNYCODE = 128 };

struct rust {
	const char *start, *at;		/* after "_R"; the next byte */
	char *to, *end;			/* of the text */
	unsigned long long lifetimes;	/* bound by the enclosing for<...> */
	int depth, parts;
	bool open;			/* see trait_path() */
	bool skip;			/* read, but do not write */
	bool bad;			/* then nothing more is read: next() returns 0 */
};

struct ident {
	unsigned long long number;	/* the disambiguator */
	const char *text;
	int len;
	bool punycode;
};

/* Reads and writes a part.  value: in an expression, where generic arguments follow "::" and constants need no braces. */
typedef void part_fn(struct rust *r, bool value);
static part_fn path, type, constant;

static void __attribute__((format(printf, 2, 3))) put(struct rust *r, const char *format, ...)
{
	va_list args;
	int n;

	if (r->skip || r->bad)
		return;
	va_start(args, format);
	n = vsnprintf(r->to, r->end - r->to, format, args);
	va_end(args);
	if (n >= r->end - r->to)
		r->bad = true;
	else
		r->to += n;
}

static char next(struct rust *r)
{
	if (r->bad || !*r->at) {
		r->bad = true;
		return 0;
	}
	return *r->at++;
}

static bool eat(struct rust *r, char c)
{
	if (r->bad || *r->at != c)
		return false;
	r->at++;
	return true;
}

/* Return false if there would be too much of it; then it is bad. */
static bool enter(struct rust *r)
{
	r->bad |= ++r->depth > MAX_DEPTH || ++r->parts > MAX_PARTS;
	return !r->bad;
}

/* Parts up to "E"; returns how many. */
static int list(struct rust *r, part_fn *part, const char *separator)
{
	int n = 0;

	for (; !r->bad && !eat(r, 'E'); n++) {
		put(r, "%s", n ? separator : "");
		part(r, true);
	}
	return n;
}

/* A list in brackets. */
static void enclosed(struct rust *r, const char *open, part_fn *part, const char *close)
{
	put(r, "%s", open);
	list(r, part, ", ");
	put(r, "%s", close);
}

/* A number in base 62, without the letter before it; "_" is 0. */
static unsigned long long base62(struct rust *r)
{
	unsigned long long n = 0;

	if (eat(r, '_'))
		return 0;
	for (char c; (c = next(r)) != '_' && !r->bad; ) {
		int digit = isdigit(c) ? c - '0' : islower(c) ? c - 'a' + 10 : isupper(c) ? c - 'A' + 36 : 62;

		r->bad |= digit > 61 || __builtin_mul_overflow(n, 62, &n) || __builtin_add_overflow(n, digit, &n);
	}
	r->bad |= n == UINT64_MAX;
	return n + 1;
}

/* The number after a letter that may be there; 0 if it is not, else that of base62() plus 1. */
static unsigned long long optional62(struct rust *r, char letter)
{
	unsigned long long n = eat(r, letter) ? base62(r) : UINT64_MAX;

	r->bad |= n == UINT64_MAX - 1;
	return n + 1;
}

static struct ident plain_ident(struct rust *r)
{
	struct ident id = { .punycode = eat(r, 'u') };
	long len = 0;

	r->bad |= !isdigit(*r->at);
	if (!eat(r, '0'))
		while (!r->bad && isdigit(*r->at) && len < INT32_MAX / 10 - 1)
			len = 10 * len + next(r) - '0';
	eat(r, '_');
	if (r->bad || strnlen(r->at, len) < (size_t)len) {
		r->bad = true;
		return id;
	}
	id.text = r->at;
	id.len = len;
	r->at += len;
	return id;
}

static struct ident ident(struct rust *r)
{
	unsigned long long number = optional62(r, 's');
	struct ident id = plain_ident(r);

	id.number = number;
	return id;
}

static void put_utf8(struct rust *r, uint32_t c)
{
	if (c < 0x80)
		put(r, "%c", (int)c);
	else if (c < 0x800)
		put(r, "%c%c", (int)(0xc0 | c >> 6), (int)(0x80 | (c & 0x3f)));
	else if (c < 0x10000)
		put(r, "%c%c%c", (int)(0xe0 | c >> 12), (int)(0x80 | (c >> 6 & 0x3f)), (int)(0x80 | (c & 0x3f)));
	else
		put(r, "%c%c%c%c", (int)(0xf0 | c >> 18), (int)(0x80 | (c >> 12 & 0x3f)),
		    (int)(0x80 | (c >> 6 & 0x3f)), (int)(0x80 | (c & 0x3f)));
}

static bool is_scalar(uint32_t c)
{
	return c <= 0x10ffff && c >> 11 != 0x1b;
}

/* RFC 3492, 6.1 */
static int punycode_bias(uint32_t delta, int n, bool first)
{
	int k = 0;

	delta /= first ? 700 : 2;
	for (delta += delta / n; delta > 455; k += 36)
		delta /= 35;
	return k + 36 * delta / (delta + 38);
}

/* RFC 3492, 6.2: a number of base 36 from *at on, up to end; false if it is not one. */
static bool punycode_delta(const char **at, const char *end, int bias, uint32_t *delta)
{
	uint32_t weight = 1, part;

	*delta = 0;
	for (int k = 36; *at < end; k += 36) {
		int c = *(*at)++, digit = islower(c) ? c - 'a' : isdigit(c) ? c - '0' + 26 : 36;
		int least = k <= bias ? 1 : k >= bias + 26 ? 26 : k - bias;

		if (digit > 35 || __builtin_mul_overflow(weight, digit, &part) ||
		    __builtin_add_overflow(*delta, part, delta))
			return false;
		if (digit < least)
			return true;
		if (__builtin_mul_overflow(weight, 36 - least, &weight))
			return false;
	}
	return false;
}

/* Returns the characters of an identifier, 0 if it is not valid or too long.  '_' is the delimiter. */
static int punycode(const struct ident *id, uint32_t out[MAX_PUNYCODE])
{
	const char *end = id->text + id->len, *split = memrchr(id->text, '_', id->len), *at = split ? split + 1 : id->text;
	int n = split ? split - id->text : 0, bias = 72;
	uint32_t c = 0x80, i = 0, delta;

	if (n > MAX_PUNYCODE || at == end)
		return 0;
	for (int k = 0; k < n; k++)
		out[k] = id->text[k];
	for (bool first = true; at < end; first = false) {
		if (n == MAX_PUNYCODE || !punycode_delta(&at, end, bias, &delta) || __builtin_add_overflow(i, delta, &i))
			return 0;
		bias = punycode_bias(delta, ++n, first);
		if (__builtin_add_overflow(c, i / n, &c) || !is_scalar(c))
			return 0;
		i %= n;
		memmove(&out[i + 1], &out[i], (n - 1 - i) * sizeof(*out));
		out[i++] = c;
	}
	return n;
}

static void put_ident(struct rust *r, const struct ident *id)
{
	uint32_t chars[MAX_PUNYCODE];
	int n;

	if (r->bad || r->skip)
		return;
	if (!id->punycode) {
		put(r, "%.*s", id->len, id->text);
		return;
	}
	n = punycode(id, chars);
	for (int i = 0; i < n; i++)
		put_utf8(r, chars[i]);
	if (!n)
		put(r, "punycode{%.*s}", id->len, id->text);
}

/* By its distance from the innermost bound one, 1; 0 is erased. */
static void lifetime(struct rust *r, unsigned long long distance)
{
	unsigned long long i = r->lifetimes - distance;

	if (!distance)
		put(r, "'_");
	else if (distance > r->lifetimes)
		r->bad = true;
	else if (i < 26)
		put(r, "'%c", (int)('a' + i));
	else
		put(r, "'_%llu", i);
}

/* "for<'a, 'b> " of a type, which ends with r->lifetimes as they were.  The text ends that loop. */
static void binder(struct rust *r)
{
	unsigned long long n = optional62(r, 'G');

	if (__builtin_add_overflow(r->lifetimes, n, &r->lifetimes)) {
		r->bad = true;
		return;
	}
	if (!n || r->skip)
		return;
	put(r, "for<");
	for (unsigned long long i = n; i && !r->bad; i--) {
		lifetime(r, i);
		put(r, i > 1 ? ", " : "> ");
	}
}

/* Goes to an earlier part for the call of fn, which is not needed where nothing is written. */
static void back(struct rust *r, part_fn *fn, bool value)
{
	const char *from = r->at - 1, *after;
	unsigned long long to = base62(r);

	r->bad |= to >= (size_t)(from - r->start);
	if (r->bad || r->skip)
		return;
	after = r->at;
	r->at = r->start + to;
	fn(r, value);
	r->at = after;
}

static void generic_arg(struct rust *r, bool value)
{
	(void)value;
	if (eat(r, 'L'))
		lifetime(r, base62(r));
	else if (eat(r, 'K'))
		constant(r, false);
	else
		type(r, false);
}

/* "::name", or "::{closure:name#0}" of a part that has no name of its own. */
static void nested(struct rust *r, bool value)
{
	char space = next(r);
	struct ident id;

	r->bad |= !isalpha(space);
	path(r, value);
	id = ident(r);
	if (islower(space)) {
		if (id.len)
			put(r, "::");
		put_ident(r, &id);
		return;
	}
	if (space == 'C' || space == 'S')
		put(r, space == 'C' ? "::{closure" : "::{shim");
	else
		put(r, "::{%c", space);
	if (id.len)
		put(r, ":");
	put_ident(r, &id);
	put(r, "#%llu}", id.number);
}

/* "<T>" or "<T as Trait>"; the path of the implementation is not written. */
static void qualified(struct rust *r, char tag)
{
	bool skip = r->skip;

	if (tag != 'Y') {
		r->skip = true;
		optional62(r, 's');
		path(r, false);
		r->skip = skip;
	}
	put(r, "<");
	type(r, false);
	if (tag != 'M') {
		put(r, " as ");
		path(r, false);
	}
	put(r, ">");
}

static void path_of(struct rust *r, char tag, bool value)
{
	struct ident id;

	switch (tag) {
	case 'C':
		id = ident(r);
		put_ident(r, &id);
		break;
	case 'N':
		nested(r, value);
		break;
	case 'M':
	case 'X':
	case 'Y':
		qualified(r, tag);
		break;
	case 'I':
		path(r, value);
		enclosed(r, value ? "::<" : "<", generic_arg, ">");
		break;
	case 'B':
		back(r, path, value);
		break;
	default:
		r->bad = true;
	}
}

static void path(struct rust *r, bool value)
{
	if (enter(r))
		path_of(r, next(r), value);
	r->depth--;
}

static const char *basic_type(char tag)
{
	static const char *const names[] = {
		['a' - 'a'] = "i8", ['b' - 'a'] = "bool", ['c' - 'a'] = "char", ['d' - 'a'] = "f64", ['e' - 'a'] = "str",
		['f' - 'a'] = "f32", ['h' - 'a'] = "u8", ['i' - 'a'] = "isize", ['j' - 'a'] = "usize", ['l' - 'a'] = "i32",
		['m' - 'a'] = "u32", ['n' - 'a'] = "i128", ['o' - 'a'] = "u128", ['p' - 'a'] = "_", ['s' - 'a'] = "i16",
		['t' - 'a'] = "u16", ['u' - 'a'] = "()", ['v' - 'a'] = "...", ['x' - 'a'] = "i64", ['y' - 'a'] = "u64",
		['z' - 'a'] = "!",
	};

	return islower(tag) ? names[tag - 'a'] : NULL;
}

static void reference(struct rust *r, bool mutable)
{
	unsigned long long distance = eat(r, 'L') ? base62(r) : 0;

	put(r, "&");
	if (distance) {
		lifetime(r, distance);
		put(r, " ");
	}
	put(r, mutable ? "mut " : "");
	type(r, false);
}

/* In ABIs, '_' stands for '-'. */
static void abi(struct rust *r)
{
	struct ident id;

	if (eat(r, 'C')) {
		put(r, "extern \"C\" ");
		return;
	}
	id = plain_ident(r);
	r->bad |= id.punycode;
	put(r, "extern \"");
	for (int i = 0; i < id.len; i++)
		put(r, "%c", id.text[i] == '_' ? '-' : id.text[i]);
	put(r, "\" ");
}

static void function(struct rust *r)
{
	unsigned long long lifetimes = r->lifetimes;

	binder(r);
	put(r, eat(r, 'U') ? "unsafe " : "");
	if (eat(r, 'K'))
		abi(r);
	enclosed(r, "fn(", type, ")");
	if (!eat(r, 'u')) {
		put(r, " -> ");
		type(r, false);
	}
	r->lifetimes = lifetimes;
}

/* The path of a trait; leaves r->open whether its generic arguments are: associated types may follow. */
static void trait_path(struct rust *r, bool value)
{
	r->open = false;
	if (!enter(r)) {
	} else if (eat(r, 'B')) {
		back(r, trait_path, value);
	} else if (eat(r, 'I')) {
		path(r, value);
		enclosed(r, "<", generic_arg, "");
		r->open = true;
	} else {
		path(r, value);
		r->open = false;
	}
	r->depth--;
}

static void dyn_trait(struct rust *r, bool value)
{
	struct ident id;
	bool open;

	(void)value;
	trait_path(r, false);
	open = r->open;
	while (eat(r, 'p')) {
		put(r, open ? ", " : "<");
		open = true;
		id = plain_ident(r);
		put_ident(r, &id);
		put(r, " = ");
		type(r, false);
	}
	put(r, open ? ">" : "");
}

static void dyn(struct rust *r)
{
	unsigned long long lifetimes = r->lifetimes, distance;

	put(r, "dyn ");
	binder(r);
	list(r, dyn_trait, " + ");
	r->lifetimes = lifetimes;
	r->bad |= !eat(r, 'L');
	distance = base62(r);
	if (!distance)
		return;
	put(r, " + ");
	lifetime(r, distance);
}

static void tuple(struct rust *r, part_fn *part)
{
	put(r, "(");
	put(r, list(r, part, ", ") == 1 ? ",)" : ")");
}

static void array(struct rust *r, bool has_length)
{
	put(r, "[");
	type(r, false);
	if (has_length) {
		put(r, "; ");
		constant(r, true);
	}
	put(r, "]");
}

static void type_of_tag(struct rust *r, char tag)
{
	switch (tag) {
	case 'R':
	case 'Q':
		reference(r, tag == 'Q');
		break;
	case 'P':
	case 'O':
		put(r, tag == 'P' ? "*const " : "*mut ");
		type(r, false);
		break;
	case 'A':
	case 'S':
		array(r, tag == 'A');
		break;
	case 'T':
		tuple(r, type);
		break;
	case 'F':
		function(r);
		break;
	case 'D':
		dyn(r);
		break;
	case 'B':
		back(r, type, false);
		break;
	default:
		path_of(r, tag, false);
	}
}

static void type(struct rust *r, bool value)
{
	char tag = enter(r) ? next(r) : 0;
	const char *name = basic_type(tag);

	(void)value;
	if (name)
		put(r, "%s", name);
	else if (tag)
		type_of_tag(r, tag);
	r->depth--;
}

/* Digits up to "_"; sets *len.  Returns their value, or sets *large if it does not fit. */
static unsigned long long hex(struct rust *r, int *len, bool *large)
{
	const char *from = r->at;
	unsigned long long n = 0;

	*large = false;
	for (char c; (c = next(r)) != '_' && !r->bad; n = n << 4 | (isdigit(c) ? c - '0' : c - 'a' + 10)) {
		r->bad |= !isxdigit(c) || isupper(c);
		*large |= n >> 60;
	}
	*len = r->at - from - 1;
	return n;
}

static void integer(struct rust *r)
{
	const char *from = r->at;
	unsigned long long n;
	bool large;
	int len;

	n = hex(r, &len, &large);
	if (large)
		put(r, "0x%.*s", len, from);
	else
		put(r, "%llu", n);
}

/* As in a literal. */
static void put_char(struct rust *r, uint32_t c, char quote)
{
	static const char escaped[] = "\t\n\r\\", as[] = "tnr\\";
	const char *at = c && c < 0x80 ? strchr(escaped, c) : NULL;

	if (at || c == (unsigned char)quote)
		put(r, "\\%c", at ? as[at - escaped] : quote);
	else if (c < 0x20 || (c >= 0x7f && c < 0xa0))
		put(r, "\\u{%x}", c);
	else
		put_utf8(r, c);
}

static void character(struct rust *r)
{
	unsigned long long n;
	bool large;
	int len;

	n = hex(r, &len, &large);
	r->bad |= large || n > UINT32_MAX || !is_scalar(n);
	put(r, "'");
	put_char(r, n, '\'');
	put(r, "'");
}

static int nibble(const char *at)
{
	return isdigit(*at) ? *at - '0' : *at - 'a' + 10;
}

/* Its bytes are UTF-8; what is not, escape_text() escapes. */
static void string(struct rust *r)
{
	const char *at = r->at;
	bool large;
	int len;

	hex(r, &len, &large);
	r->bad |= len % 2;
	put(r, "\"");
	for (int i = 0; i < len && !r->bad; i += 2) {
		unsigned char c = nibble(at + i) << 4 | nibble(at + i + 1);

		if (c < 0x80)
			put_char(r, c, '"');
		else
			put(r, "%c", c);
	}
	put(r, "\"");
}

static void field(struct rust *r, bool value)
{
	struct ident id = ident(r);

	put_ident(r, &id);
	put(r, ": ");
	constant(r, value);
}

static void variant(struct rust *r)
{
	char tag;

	path(r, true);
	tag = next(r);
	if (tag == 'S')
		enclosed(r, " { ", field, " }");
	else if (tag == 'T')
		enclosed(r, "(", constant, ")");
	else if (tag != 'U')
		r->bad = true;
}

/* An expression that is no literal. */
static void expression(struct rust *r, char tag)
{
	switch (tag) {
	case 'e':
		put(r, "*");
		string(r);
		break;
	case 'R':
	case 'Q':
		put(r, tag == 'R' ? "&" : "&mut ");
		constant(r, true);
		break;
	case 'A':
		enclosed(r, "[", constant, "]");
		break;
	case 'T':
		tuple(r, constant);
		break;
	case 'V':
		variant(r);
		break;
	default:
		r->bad = true;
	}
}

static void boolean(struct rust *r)
{
	unsigned long long n;
	bool large;
	int len;

	n = hex(r, &len, &large);
	r->bad |= large || n > 1;
	put(r, n ? "true" : "false");
}

static void constant_of(struct rust *r, char tag, bool value)
{
	if (tag == 'p') {
		put(r, "_");
	} else if (tag == 'b') {
		boolean(r);
	} else if (tag == 'c') {
		character(r);
	} else if (tag && strchr("htmyojaslxni", tag)) {
		if (strchr("aslxni", tag) && eat(r, 'n'))
			put(r, "-");
		integer(r);
	} else if (tag == 'B') {
		back(r, constant, value);
	} else if (tag == 'R' && eat(r, 'e')) {
		string(r);
	} else {
		put(r, value ? "" : "{");
		expression(r, tag);
		put(r, value ? "" : "}");
	}
}

static void constant(struct rust *r, bool value)
{
	if (enter(r))
		constant_of(r, next(r), value);
	r->depth--;
}

/* After a symbol the compiler may add ".llvm.123", which is left out, ".cold" and others. */
static void suffix(struct rust *r)
{
	if (*r->at == '.' && strncmp(r->at, ".llvm.", 6))
		put(r, "%s", r->at);
	else if (*r->at && *r->at != '.')
		r->bad = true;
}

bool rust_name(const char *symbol, char *text, size_t size)
{
	struct rust r = { .start = symbol + 2, .at = symbol + 2, .to = text, .end = text + size };

	if (strncmp(symbol, "_R", 2) || !isupper(symbol[2]))
		return false;
	for (const char *c = symbol; *c; c++)
		if (*c & 0x80)
			return false;
	path(&r, true);
	if (isupper(*r.at)) {	/* the crate that made an instance */
		r.skip = true;
		path(&r, false);
		r.skip = false;
	}
	suffix(&r);
	return !r.bad;
}
