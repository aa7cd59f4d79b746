/* collector/writer/row_queue.h: rows are put without a lock, whatever a signal handler does to the thread that puts one. */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include <cmocka.h>

#include "collector/writer/row_queue.c"

#define ROOM 4096
#define THREADS 4
#define ROWS_OF_THREAD 200000

/* A row whose parts agree: one that two threads had written would not. */
struct test_row {
	uint32_t thread;
	uint64_t number, copy[6];
};

static struct row_queue queue;
static uint64_t written, torn, unordered, last_of[THREADS], sum_of[THREADS];
static unsigned int wakes;

static void wake(void)
{
	__atomic_fetch_add(&wakes, 1, __ATOMIC_RELAXED);
}

static struct test_row make_row(uint32_t thread, uint64_t number)
{
	struct test_row row = {.thread = thread, .number = number};

	for (size_t i = 0; i < sizeof(row.copy) / sizeof(*row.copy); i++)
		row.copy[i] = number;
	return row;
}

static void write_row(void *user, void *data)
{
	const struct test_row *row = data;

	(void)user;
	written++;
	for (size_t i = 0; i < sizeof(row->copy) / sizeof(*row->copy); i++)
		torn += row->copy[i] != row->number;
	unordered += row->number < last_of[row->thread];
	last_of[row->thread] = row->number;
	sum_of[row->thread] += row->number;
}

static int start_queue(void **state)
{
	(void)state;
	queue = (struct row_queue)ROW_QUEUE_INITIALIZER;
	row_queue_init(&queue, sizeof(struct test_row), ROOM, wake);
	written = torn = unordered = 0;
	wakes = 0;
	memset(last_of, 0, sizeof(last_of));
	memset(sum_of, 0, sizeof(sum_of));
	return 0;
}

static int end_queue(void **state)
{
	(void)state;
	free(queue.halves[0]);
	free(queue.halves[1]);
	return 0;
}

static uint64_t refused, put_sum_of[THREADS];

static void *put_rows(void *thread)
{
	for (uint64_t i = 1; i <= ROWS_OF_THREAD; i++) {
		struct test_row row = make_row((uint32_t)(uintptr_t)thread, i);

		if (row_queue_put(&queue, &row))
			put_sum_of[row.thread] += i;
		else
			__atomic_fetch_add(&refused, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void test_threads(void **state)
{
	pthread_t threads[THREADS];

	(void)state;
	refused = 0;
	memset(put_sum_of, 0, sizeof(put_sum_of));
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, put_rows, (void *)i);
	for (int i = 0; i < 2000; i++)
		row_queue_take(&queue, write_row, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(row_queue_take_last(&queue, write_row, NULL), 0);
	assert_int_equal(written + refused, THREADS * ROWS_OF_THREAD);
	assert_int_equal(torn, 0);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(sum_of[i], put_sum_of[i]); /* each row once */
}

static void test_order(void **state)
{
	(void)state;
	for (uint64_t i = 1; i <= ROOM; i++) {
		struct test_row row = make_row(0, i);

		assert_true(row_queue_put(&queue, &row));
		if (i % 100 == 0)
			row_queue_take(&queue, write_row, NULL);
	}
	assert_int_equal(row_queue_take_last(&queue, write_row, NULL), 0);
	assert_int_equal(written, ROOM);
	assert_int_equal(unordered, 0);
}

/* ---- while rows are written ---- */

static void put_and_write(void *user, void *data)
{
	pthread_t thread;
	struct test_row row = make_row(0, 2);

	write_row(user, data);
	assert_true(row_queue_put(&queue, &row)); /* by this thread: a lock would never be given */
	assert_int_equal(pthread_create(&thread, NULL, put_rows, NULL), 0);
	pthread_join(thread, NULL);
}

static void test_while_written(void **state)
{
	struct test_row row = make_row(0, 1);

	(void)state;
	signal(SIGALRM, SIG_DFL);
	alarm(60); /* a thread that waits for the writer would wait without end */
	assert_true(row_queue_put(&queue, &row));
	row_queue_take(&queue, put_and_write, NULL);
	alarm(0);
	assert_int_equal(written, 1);
	row_queue_take(&queue, write_row, NULL);
	assert_int_equal(written, 1 + ROOM);
}

/* ---- handlers that leave ---- */

static sigjmp_buf left;
static uint64_t begun, ended;

static void leave(int unused)
{
	(void)unused;
	siglongjmp(left, 1);
}

static void test_siglongjmp(void **state)
{
	const struct itimerval often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
	volatile int left_count = 0;
	uint64_t lost;

	(void)state;
	begun = ended = refused = 0;
	signal(SIGALRM, leave);
	if (sigsetjmp(left, 1))
		left_count++;
	setitimer(ITIMER_REAL, &often, NULL);
	while (left_count < 2000) {
		struct test_row row = make_row(0, ++begun);

		refused += !row_queue_put(&queue, &row);
		ended++;
		if (begun % 2000 == 0) {
			setitimer(ITIMER_REAL, &never, NULL);
			row_queue_take(&queue, write_row, NULL);
			setitimer(ITIMER_REAL, &often, NULL);
		}
	}
	setitimer(ITIMER_REAL, &never, NULL);
	signal(SIGALRM, SIG_DFL);
	lost = row_queue_take_last(&queue, write_row, NULL);
	assert_int_equal(torn, 0);
	assert_true(lost <= 2000);
	assert_true(written + lost + refused >= ended);
	assert_true(written + lost + refused <= begun);
}

/* ---- a thread that is stopped for long ---- */

static void test_late_row(void **state)
{
	struct test_row row = make_row(0, 1), other = make_row(1, 1);
	struct slot *stuck;
	uint64_t ticket;

	(void)state;
	/* It has its number, and its slot, and is stopped there. */
	ticket = __atomic_fetch_add(&queue.next, 1, __ATOMIC_ACQ_REL);
	stuck = slot_at(&queue, (int)(ticket >> HALF_SHIFT), (size_t)(ticket & INDEX_BITS));
	stuck->state = BUSY;
	row_queue_take(&queue, write_row, NULL);
	row_queue_take(&queue, write_row, NULL); /* the half is filled again */
	assert_true(row_queue_put(&queue, &other));
	row_queue_take(&queue, write_row, NULL);
	assert_int_equal(written, 1); /* the other, which does not lie in that slot */
	memcpy(stuck->row, &row, sizeof(row));
	stuck->state = FULL;
	assert_int_equal(row_queue_take_last(&queue, write_row, NULL), 0);
	assert_int_equal(written, 2);
	assert_int_equal(torn, 0);
}

static void test_never_finished(void **state)
{
	struct test_row row = make_row(0, 1);

	(void)state;
	__atomic_fetch_add(&queue.next, 1, __ATOMIC_ACQ_REL); /* its thread has left */
	assert_true(row_queue_put(&queue, &row));
	row_queue_take(&queue, write_row, NULL);
	assert_int_equal(written, 1);
	assert_int_equal(row_queue_take_last(&queue, write_row, NULL), 1);
}

#define TEST(name, function)                                 \
	{                                                    \
		name, function, start_queue, end_queue, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("rows are written in the order in which they were put", test_order),
		TEST("rows of four threads are written whole, each once, or refused", test_threads),
		TEST("rows are put while others are written", test_while_written),
		TEST("a handler that leaves a put by siglongjmp costs that row at most, and it is counted",
		     test_siglongjmp),
		TEST("a row whose thread is stopped for long is written when it is there",
		     test_late_row),
		TEST("a row that is never finished keeps back none, and is counted at the end",
		     test_never_finished),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
