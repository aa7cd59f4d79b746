#include "base/names/kernel_fold.h"

#include <ctype.h>
#include <string.h>

#include "base/format.h"
#include "base/names/kernel_types.h"

#define ARGUMENT_SIZE 256 /* of which no more is shown than a fraction */
#define LEAST_TILE 8	  /* of a matrix product: smaller ones are clusters, or stages */

/* ---- what is needed least ---- */

/* Policy800 and policy_500_t of CUB, which follow from the GPU. */
static bool is_policy(struct slice name)
{
	size_t at = strlen("Policy");

	if (!slice_begins(name, "Policy") && !slice_begins(name, "policy"))
		return false;
	at += at < name.length && name.at[at] == '_';
	return at < name.length && isdigit((unsigned char)name.at[at]);
}

/* How a library reaches its operands: the same for most of its kernels. */
static bool is_plumbing(struct slice type)
{
	static const char *const beginnings[] = {
		"TrivialOffsetCalculator", "OffsetCalculator", "LoadWith",   "StoreWith",
		"TensorListMetadata",	   "array<char*",      "Array<char*"};
	struct slice qualifier, name = name_last(type, &qualifier);

	for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++)
		if (slice_begins(name, beginnings[i]))
			return true;
	return is_policy(name);
}

/* ---- the forms of a name, the longest first ---- */

enum form { FORM_ALL, FORM_FUNCTORS_FOLDED, FORM_FUNCTORS_ONLY, FORM_FUNCTORS_BARE, FORM_COUNT };

/* What is known of a name that is folded; bit i: of template argument i. */
struct folding {
	const struct kernel_parts *parts;
	struct functor found[KERNEL_ARGUMENTS_MOST];
	uint32_t functors, plumbing;
	uint32_t wanted; /* by the caller */
};

static void look_at(struct folding *folding, const struct kernel_parts *parts, uint32_t wanted)
{
	*folding = (struct folding){.parts = parts, .wanted = wanted};
	for (size_t i = 0; i < parts->argument_count; i++) {
		if (is_plumbing(parts->arguments[i])) {
			folding->plumbing |= UINT32_C(1) << i;
			continue;
		}
		folding->found[i] = functor_find(parts->arguments[i], 0);
		if (folding->found[i].name.length)
			folding->functors |= UINT32_C(1) << i;
	}
}

/* Which arguments a form shows. */
static uint32_t choose(const struct folding *folding, enum form form)
{
	uint32_t all = form < FORM_FUNCTORS_ONLY ? ~folding->plumbing : 0;

	return all | folding->wanted | folding->functors;
}

static void put_argument(struct slice_text *out, const struct folding *folding, size_t index,
			 enum form form)
{
	if (form != FORM_ALL && folding->found[index].name.length)
		functor_put(out, folding->found[index], form == FORM_FUNCTORS_BARE, 0);
	else
		type_put(out, folding->parts->arguments[index], 0);
}

/* base<a, b>, of arguments that read alike the first; false where it is longer than width. */
static bool put_form(struct slice_text *out, const struct folding *folding, uint32_t chosen,
		     enum form form, size_t width)
{
	const struct kernel_parts *parts = folding->parts;
	size_t before = 0;

	slice_text_put(out, parts->base);
	for (size_t i = 0; i < parts->argument_count && !out->is_full && out->length <= width;
	     i++) {
		size_t at = out->length;

		if (!(chosen >> i & 1))
			continue;
		slice_text_puts(out, before ? ", " : "<");
		put_argument(out, folding, i, form);
		if (before && form >= FORM_FUNCTORS_ONLY && out->length - at == at - before &&
		    !memcmp(out->at + before + (out->at[before] == '<'), out->at + at + 2,
			    out->length - at - 2))
			slice_text_shorten(out, at);
		before = before ? before : at;
	}
	slice_text_puts(out, before ? ">" : "");
	return !out->is_full && out->length <= width;
}

/* The beginning and the end of text, "..." between them. */
static void put_elided(struct slice_text *out, struct slice text, size_t width)
{
	size_t tail = (width - 3) / 3, head = width - 3 - tail;

	if (text.length <= width) {
		slice_text_put(out, text);
		return;
	}
	slice_text_put(out, slice_head(text, head));
	slice_text_puts(out, "...");
	slice_text_put(out, slice_tail(text, tail));
}

/* vectorized_el...<CUDAFunctor_add>; all of the functor where that leaves room for a letter. */
static void put_base_and_functor(struct slice_text *out, const struct kernel_parts *parts,
				 struct functor functor, bool is_bare, size_t width)
{
	char text[ARGUMENT_SIZE];
	struct slice_text whole = {.at = text, .size = sizeof(text)};
	size_t room, most = width - 9;

	functor_put(&whole, functor, is_bare, 0);
	if (!is_bare && !whole.is_full && whole.length + 6 <= width) {
		most = whole.length;
	} else if (!is_bare) {
		slice_text_shorten(&whole, 0);
		functor_put(&whole, functor, true, 0);
	}
	room = width - 2 - (whole.length < most ? whole.length : most);
	if (parts->base.length <= room) {
		slice_text_put(out, parts->base);
	} else {
		slice_text_put(out, slice_head(parts->base, room - 3));
		slice_text_puts(out, "...");
	}
	slice_text_puts(out, "<");
	put_elided(out, (struct slice){text, whole.length}, most);
	slice_text_puts(out, ">");
}

/* The first tile in a type of CUTLASS that is more than a handful of blocks or stages; what follows it in *rest. */
static bool find_tile(struct slice type, struct slice *base, struct slice *numbers,
		      struct slice *rest)
{
	static const char *const starts[] = {"tuple<cute::C<", "GemmShape<"};

	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
		struct slice tile = slice_find(type, starts[i]), first;

		for (; tile.length; tile = slice_find(slice_from(tile, 1), starts[i]))
			if (name_split_template(tile, base, numbers, rest) &&
			    name_split(*numbers, &first, 1) &&
			    type_number_value(type_constant(first)) >= LEAST_TILE)
				return true;
	}
	return false;
}

/* The tile and the type of a matrix product of CUTLASS: what its configurations are called by. */
static bool put_product(struct slice_text *out, const struct kernel_parts *parts, size_t width)
{
	static const char *const types[] = {"bfloat16_t",   "half_t", "tfloat32_t", "float_e4m3_t",
					    "float_e5m2_t", "float",  "double"};
	struct slice all, last, base, numbers, rest;
	const char *type = "";

	if (!parts->argument_count || !slice_begins(parts->qualifier, "cutlass"))
		return false;
	last = parts->arguments[parts->argument_count - 1];
	all = parts->arguments[0];
	all.length = (size_t)(last.at - all.at) + last.length;
	if (!find_tile(all, &base, &numbers, &rest))
		return false;
	slice_text_put(out, parts->base);
	slice_text_puts(out, "<");
	if (!type_put_tile(out, base, numbers))
		return false;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (slice_find(rest, types[i]).length) {
			type = types[i];
			break;
		}
	if (*type && out->length + strlen(", >") + strlen(type) <= width) {
		slice_text_puts(out, ", ");
		slice_text_puts(out, type);
	}
	slice_text_puts(out, ">");
	return !out->is_full && out->length <= width;
}

/* base<1, 2, ...>: as many arguments, and of the last one as many words, as there is room for. */
static void put_beginning(struct slice_text *out, const struct folding *folding, uint32_t chosen,
			  size_t width)
{
	struct slice base = folding->parts->base;
	char whole[2 * ARGUMENT_SIZE];
	struct slice_text all = {.at = whole, .size = sizeof(whole)};
	size_t end = width - 4;

	if (put_form(&all, folding, chosen, FORM_FUNCTORS_FOLDED, width)) {
		slice_text_puts(out, whole);
		return;
	}
	while (end > base.length + 1 && memcmp(whole + end - 2, ", ", 2) != 0)
		end--;
	if (end <= base.length + 1)
		end = width - 4; /* of the first argument what there is room for */
	if (!folding->parts->argument_count || end < base.length + 1) {
		put_elided(out, base, width);
		return;
	}
	slice_text_put(out, slice_head((struct slice){whole, all.length}, end));
	slice_text_puts(out, "...>");
}

static void shorten(struct slice_text *out, const struct folding *folding, size_t width)
{
	uint32_t wanted = folding->wanted;

	uint32_t functors = wanted ? wanted & folding->functors : folding->functors;

	slice_text_shorten(out, 0);
	if (wanted & ~functors && functors &&
	    put_form(out, folding, choose(folding, FORM_FUNCTORS_BARE), FORM_FUNCTORS_BARE, width))
		return;
	slice_text_shorten(out, 0);
	if (functors) {
		put_base_and_functor(out, folding->parts, folding->found[__builtin_ctz(functors)],
				     !wanted, width);
		return;
	}
	if (!wanted && put_product(out, folding->parts, width))
		return;
	slice_text_shorten(out, 0);
	put_beginning(out, folding, wanted ? wanted : choose(folding, FORM_ALL), width);
}

void kernel_fold(char buffer[KERNEL_FOLD_SIZE], const struct kernel_parts *parts, uint32_t wanted,
		 size_t width)
{
	char raw[2 * ARGUMENT_SIZE];
	struct slice_text out = {.at = raw, .size = sizeof(raw)};
	struct folding folding;
	bool fits = false;

	look_at(&folding, parts, wanted);
	for (enum form form = FORM_ALL; form < FORM_COUNT && !fits; form++) {
		if ((form >= FORM_FUNCTORS_ONLY && !(folding.functors | wanted)) ||
		    (form == FORM_FUNCTORS_BARE && (wanted & folding.functors)))
			continue;
		slice_text_shorten(&out, 0);
		fits = put_form(&out, &folding, choose(&folding, form), form, width);
	}
	if (!fits)
		shorten(&out, &folding, width);
	(void)format_text(buffer, KERNEL_FOLD_SIZE, raw, width);
}

bool kernel_fold_whole(char *buffer, size_t size, const struct kernel_parts *parts)
{
	struct slice_text out = {.at = buffer, .size = size};
	struct folding folding = {.parts = parts};

	*buffer = '\0';
	return put_form(&out, &folding, UINT32_MAX, FORM_ALL, SIZE_MAX);
}
