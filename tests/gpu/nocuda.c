/* nocuda: a program that never touches CUDA.  The collector must cost it nothing and write nothing.
 * nocuda [ARGUMENT...]: prints its arguments and ends with 7. */
#include <stdio.h>

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		puts(argv[i]);
	puts("no CUDA here");
	return 7;
}
