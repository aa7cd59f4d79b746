/*
 * stubs.c - the instructions in front of the driver's functions, of dlsym, dlopen and dlmopen.
 *
 * They keep every register in which arguments lie (x86-64: six of integers, eight of vectors, and rax), and the return
 * address, by which dlsym tells who asks.  r10 and r11 are free between two functions.
 */
#include "stubs.h"

#include "handlers.h"

#include <stddef.h>

#ifndef __x86_64__
#error "the stubs in front of the driver's functions are written for x86-64 alone"
#endif

void *try_targets[STUBS_COUNT] = {[0 ... STUBS_ROWS - 1] = (void *)try_unresolved};
unsigned char try_always[STUBS_COUNT];
int try_pending;

/* clang-format off */

#define SAVE_REGISTERS                        \
	"pushq %rbp\n"                        \
	".cfi_adjust_cfa_offset 8\n"          \
	".cfi_rel_offset %rbp, 0\n"           \
	"movq %rsp, %rbp\n"                   \
	".cfi_def_cfa_register %rbp\n"        \
	"pushq %rdi\n"                        \
	"pushq %rsi\n"                        \
	"pushq %rdx\n"                        \
	"pushq %rcx\n"                        \
	"pushq %r8\n"                         \
	"pushq %r9\n"                         \
	"pushq %rax\n"                        \
	"pushq %r11\n"                        \
	"subq $128, %rsp\n"                   \
	"movups %xmm0, (%rsp)\n"              \
	"movups %xmm1, 16(%rsp)\n"            \
	"movups %xmm2, 32(%rsp)\n"            \
	"movups %xmm3, 48(%rsp)\n"            \
	"movups %xmm4, 64(%rsp)\n"            \
	"movups %xmm5, 80(%rsp)\n"            \
	"movups %xmm6, 96(%rsp)\n"            \
	"movups %xmm7, 112(%rsp)\n"

#define RESTORE_REGISTERS                     \
	"movups (%rsp), %xmm0\n"              \
	"movups 16(%rsp), %xmm1\n"            \
	"movups 32(%rsp), %xmm2\n"            \
	"movups 48(%rsp), %xmm3\n"            \
	"movups 64(%rsp), %xmm4\n"            \
	"movups 80(%rsp), %xmm5\n"            \
	"movups 96(%rsp), %xmm6\n"            \
	"movups 112(%rsp), %xmm7\n"           \
	"addq $128, %rsp\n"                   \
	"popq %r11\n"                         \
	"popq %rax\n"                         \
	"popq %r9\n"                          \
	"popq %r8\n"                          \
	"popq %rcx\n"                         \
	"popq %rdx\n"                         \
	"popq %rsi\n"                         \
	"popq %rdi\n"                         \
	"popq %rbp\n"                         \
	".cfi_def_cfa %rsp, 8\n"

#define BEGIN(name) ".type " name ", @function\n.balign 16\n" name ":\n"
#define BEGIN_HIDDEN(name) ".globl " name "\n.hidden " name "\n" BEGIN(name)
#define END(name) ".size " name ", . - " name "\n"

__asm__(".text\n"
	".hidden try_pending\n"
	".hidden try_always\n"
	".hidden try_targets\n"
	".hidden try_before\n"
	".hidden try_resolve\n"
	".hidden try_dlsym\n"
	".hidden try_real_dlsym\n"
	".hidden try_before_dlopen\n"
	".hidden try_real_dlopen\n"
	".hidden try_before_dlmopen\n"
	".hidden try_real_dlmopen\n"

	/* r11d is the number of the stub.  Nothing was put off, and nothing else is to be done: straight on. */
	BEGIN("try_flush_stub")
	".cfi_startproc\n"
	"	cmpl $0, try_pending(%rip)\n"
	"	jne 1f\n"
	"	leaq try_always(%rip), %r10\n"
	"	cmpb $0, (%r10,%r11)\n"
	"	jne 1f\n"
	"	leaq try_targets(%rip), %r10\n"
	"	jmp *(%r10,%r11,8)\n"
	"1:\n"
	SAVE_REGISTERS
	"	movl %r11d, %edi\n"
	"	call try_before\n"
	"	movq %rax, %r10\n"
	RESTORE_REGISTERS
	"	jmp *%r10\n"
	".cfi_endproc\n"
	END("try_flush_stub")

	BEGIN("try_ask_stub")
	"	leaq try_targets(%rip), %r10\n"
	"	jmp *(%r10,%r11,8)\n"
	END("try_ask_stub")

	BEGIN_HIDDEN("try_unresolved")
	".cfi_startproc\n"
	SAVE_REGISTERS
	"	movl %r11d, %edi\n"
	"	call try_resolve\n"
	"	movq %rax, %r10\n"
	RESTORE_REGISTERS
	"	jmp *%r10\n"
	".cfi_endproc\n"
	END("try_unresolved")

	/* Where we have no answer the C library's dlsym gets the call as it came: RTLD_NEXT asks who calls. */
	".globl dlsym\n"
	BEGIN("dlsym")
	".cfi_startproc\n"
	SAVE_REGISTERS
	"	movq 8(%rbp), %rdx\n"
	"	call try_dlsym\n"
	"	movq %rax, %r10\n"
	RESTORE_REGISTERS
	"	testq %r10, %r10\n"
	"	jne 1f\n"
	"	jmp *try_real_dlsym(%rip)\n"
	"1:	xorl %eax, %eax\n"
	"	cmpq $1, %r10\n" /* try_nothing */
	"	cmovneq %r10, %rax\n"
	"	ret\n"
	".cfi_endproc\n"
	END("dlsym")

	/* The C library's asks who calls, too. */
	".globl dlopen\n"
	BEGIN("dlopen")
	".cfi_startproc\n"
	SAVE_REGISTERS
	"	call try_before_dlopen\n"
	RESTORE_REGISTERS
	"	jmp *try_real_dlopen(%rip)\n"
	".cfi_endproc\n"
	END("dlopen")

	".globl dlmopen\n"
	BEGIN("dlmopen")
	".cfi_startproc\n"
	SAVE_REGISTERS
	"	call try_before_dlmopen\n"
	RESTORE_REGISTERS
	"	jmp *try_real_dlmopen(%rip)\n"
	".cfi_endproc\n"
	END("dlmopen"));

/* clang-format on */

/* Each function by the names under which libcuda.so exports it, for programs that are linked with that. */
#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)
#define EXPORT(name) ".text\n.globl " name "\n" BEGIN(name)
#define GO_TO(stub) "movl $" TEXT(__COUNTER__) ", %r11d\njmp " stub "\n"
#define CODE_STRAIGHT(name) __asm__(EXPORT(name) GO_TO("try_ask_stub") END(name));
#define CODE_BEFORE(name) __asm__(EXPORT(name) GO_TO("try_flush_stub") END(name));
#define CODE_ASKS_LEAVES_QUIET(name, host) CODE_ASKS_##host(name)
#define CODE_ASKS_UNAWARE(name) CODE_STRAIGHT(name)
#define CODE_ASKS_SEES(name) CODE_BEFORE(name)
#define CODE_ASKS_LEAVES_TELLS(name, host) CODE_BEFORE(name)
#define CODE_ASKS_LEAVES_EXPOSES(name, host) CODE_BEFORE(name)
#define CODE_ASKS_RETURNS_QUIET(name, host) CODE_BEFORE(name)
#define CODE_ASKS_RETURNS_TELLS(name, host) CODE_BEFORE(name)
#define CODE_ASKS(name, memory, wait, host) CODE_ASKS_##memory##_##wait(name, host)
#define CODE_FLUSHES(name, memory, wait, host) CODE_BEFORE(name)
#define CODE_FREES(name, memory, wait, host) CODE_BEFORE(name)
#define CODE_RENAMES(name, memory, wait, host) CODE_BEFORE(name)
#define CODE_FORGETS(name, memory, wait, host) CODE_BEFORE(name)
#define CODE_STOPS(name, memory, wait, host) CODE_BEFORE(name)
#define CODE_HANDLED(name, memory, wait, host) \
	_Static_assert(__COUNTER__ >= 0, "its number stays free");
#define CODE(name, kind, memory, wait, host) CODE_##kind(name, memory, wait, host)

_Static_assert(__COUNTER__ == 0, "the first row is number 1");
TRY_FUNCTIONS(CODE)

#define EXPORT_HANDLER(name, version, exported, function) \
	__asm__(".hidden " #function "\n" EXPORT(exported) "jmp " #function "\n" END(exported));
#define EXPORT_STREAM_HANDLER(name, version, exported, function) \
	EXPORT_HANDLER(name, version, exported, function)        \
	EXPORT_HANDLER(name, version, exported "_ptsz", function##_ptsz)
#define EXPORT_COPY_HANDLER(name, version, exported, function) \
	EXPORT_HANDLER(name, version, exported, function)      \
	EXPORT_HANDLER(name, version, exported "_ptds", function##_ptds)
TRY_HANDLERS(EXPORT_HANDLER, EXPORT_STREAM_HANDLER, EXPORT_COPY_HANDLER)

/* clang-format off */
__asm__(".text\n"
	".balign 16\n"
	".globl try_looked_up\n"
	".hidden try_looked_up\n"
	"try_looked_up:\n"
	".set try_number, " TEXT(__COUNTER__) "\n"
	".rept " STUBS_LOOKED_UP_TEXT "\n"
	"	.balign 16\n"
	"	movl $try_number, %r11d\n"
	"	jmp try_flush_stub\n"
	"	.set try_number, try_number + 1\n"
	".endr\n");
/* clang-format on */

extern const char try_looked_up[];

void *stubs_address(unsigned stub)
{
	return (void *)(try_looked_up + 16 * (size_t)(stub - STUBS_ROWS));
}
