/* What holds for every technique: its texts, and that all of them together find room in a change. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "fixture_loop.h"

#define TECHNIQUE_NAME(name) [TECHNIQUE_##name] = #name,
static const char *const names[TECHNIQUE_COUNT] = {TECHNIQUES(TECHNIQUE_NAME)};

static void expect_text(const char *text)
{
	assert_non_null(text);
	assert_true(strlen(text) > 10);
}

static void test_rows(void **state)
{
	(void)state;
	for (int i = 0; i < TECHNIQUE_COUNT; i++) {
		assert_string_equal(techniques[i]->id, names[i]);
		assert_int_equal(technique_id_of(techniques[i]), i);
	}
}

static void test_texts(void **state)
{
	(void)state;
	for (int i = 0; i < TECHNIQUE_COUNT; i++) {
		const struct technique *technique = techniques[i];

		assert_true(strlen(technique->option) > 2);
		expect_text(technique->help);
		expect_text(technique->effect);
		expect_text(technique->refusal);
		if (technique->changed)
			expect_text(technique->changed);
		if (technique->always_assumes)
			expect_text(technique->assumes);
	}
}

static void test_spreads(void **state)
{
	(void)state;
	for (int i = 0; i < TECHNIQUE_COUNT; i++)
		assert_true(techniques[i]->spread > 0);
}

static void test_options(void **state)
{
	(void)state;
	for (int i = 0; i < TECHNIQUE_COUNT; i++)
		for (int j = 0; j < i; j++)
			assert_string_not_equal(techniques[i]->option, techniques[j]->option);
}

static void test_numbers(void **state)
{
	(void)state;
	for (int i = 0; i < TECHNIQUE_COUNT; i++) {
		const struct technique *technique = techniques[i];

		if (technique->argument == ARGUMENT_NUMBER) {
			assert_true(technique->number_most >= 2);
			expect_text(technique->number_is);
			assert_non_null(technique->number_does);
		} else {
			assert_int_equal(technique->number_most, 0);
		}
	}
}

/* Only where it changes loops can it be kept to a range, and it needs something to do. */
static void test_arguments(void **state)
{
	(void)state;
	for (int i = 0; i < TECHNIQUE_COUNT; i++) {
		const struct technique *technique = techniques[i];

		assert_true(technique->change_loop || technique->change_lengths ||
			    technique->change_run || technique->change_job);
		assert_int_equal(technique->argument == ARGUMENT_RANGE,
				 technique->change_loop != NULL);
	}
}

#define REFUSAL_OF(name, text) refused_##name,
static void test_refusals(void **state)
{
	static const char *const refusals[] = {REFUSALS(REFUSAL_OF)};

	(void)state;
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++)
		expect_text(refusals[i]);
}

/* Each on loops that it does not refuse, and all of them on one after the other in one change. */
static void test_room(void **state)
{
	static const char *const loops[] = {"kk",  "kkw",   "khk",  "krwk", "grw",   "krwKK",
					    "IgD", "iklow", "pkwm", "kmkw", "kckrwK"};
	struct call_change found[CALL_CHANGES_MOST];
	size_t count = 0, changed_count = 0, unlooped_count = 0;

	(void)state;
	for (int i = 0; i < TECHNIQUE_COUNT; i++) /* these know no loops */
		unlooped_count += !techniques[i]->change_loop;
	for (size_t i = 0; i < sizeof(loops) / sizeof(loops[0]); i++) {
		struct loop_fixture fixture = loop_of(loops[i]);
		struct change *change = &fixture.application.change;

		for (int j = 0; j < TECHNIQUE_COUNT; j++) {
			fixture.application.number = techniques[j]->number_most;
			changed_count += !loop_apply(&fixture, techniques[j]);
		}
		assert_true(change->call_change_count < CALL_CHANGES_MOST);
		for (size_t call = 0; call < fixture.b->profile.call_count; call++)
			assert_true(change->calls[call] < change->call_change_count);
		for (size_t j = 0; j < change->call_change_count; j++) {
			size_t k = 0;

			while (k < count &&
			       memcmp(&found[k], &change->call_changes[j], sizeof(found[k])) != 0)
				k++;
			if (k == count) {
				assert_true(count < CALL_CHANGES_MOST);
				found[count++] = change->call_changes[j];
			}
		}
		loop_free(&fixture);
	}
	assert_true(changed_count > TECHNIQUE_COUNT - unlooped_count);
	assert_true(count >= 12); /* the loops need nearly all that techniques do to a call */
}

/* One more than there is room for is as recorded, and not another one. */
static void test_no_room(void **state)
{
	struct loop_fixture fixture = loop_of("k");
	struct change *change = &fixture.application.change;

	(void)state;
	for (uint8_t i = 2; i < CALL_CHANGES_MOST; i++)
		assert_int_equal(change_number(change, &(struct call_change){.gap = i}), i);
	assert_int_equal(change_number(change, &(struct call_change){.start = 1}), CALL_KEPT);
	assert_int_equal(change_number(change, &(struct call_change){.gap = 7}), 7);
	loop_free(&fixture);
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("a technique's id is the name of its row", test_rows),
		SENTENCE("every technique can be told", test_texts),
		SENTENCE("every technique says how far it may be off", test_spreads),
		SENTENCE("no two techniques have the same option", test_options),
		SENTENCE("an option that takes a number takes at least 2", test_numbers),
		SENTENCE("techniques that change loops, and only these, take a range",
			 test_arguments),
		SENTENCE("every shared refusal can be told", test_refusals),
		SENTENCE("what all techniques do to the calls of a loop has room in one change",
			 test_room),
		SENTENCE("of more than there is room for a call stays as recorded", test_no_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
