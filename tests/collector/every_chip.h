/*
 * every_chip.h - a program that asks the real CUPTI about the chips named, or about all that it knows.
 *
 * PROGRAM LIBRARY [CHIP...]   exits 1 when wrong_count is not 0, 2 when it cannot ask
 */
#ifndef ROOFLINE_TEST_EVERY_CHIP_H
#define ROOFLINE_TEST_EVERY_CHIP_H

#include "cupti_api.h"

extern struct cupti_api real_cupti;
extern unsigned int wrong_count;

void check_chip(const char *name); /* the program's own */

#endif
