/*
 * old_glibc.h - binds functions to the versions that they have always had, so that what is built here runs with glibc 2.17.
 *
 * The libraries are preloaded into all processes that a program starts, also those with an older C library of their own
 * (conda, a container's root file system): such a process does not start when a preloaded library wants a newer one.  glibc
 * 2.34 moved these from libdl and libpthread into libc under a new version, and keeps the old ones.  Included by the compiler
 * before all else (Makefile); old_glibc.c has those that have no older version.
 */
#ifndef ROOFLINE_OLD_GLIBC_H
#define ROOFLINE_OLD_GLIBC_H

#ifdef __x86_64__
#define FIRST_GLIBC "GLIBC_2.2.5"
#define THIRD_GLIBC "GLIBC_2.3.3"
#elif defined(__aarch64__)
#define FIRST_GLIBC "GLIBC_2.17"
#define THIRD_GLIBC FIRST_GLIBC
#endif

#ifdef FIRST_GLIBC
#define BIND_TO(version, now, then) __asm__(".symver " now ", " then "@" version)
#define BIND(now, then) BIND_TO(FIRST_GLIBC, now, then)
BIND("dladdr", "dladdr");
BIND("dlclose", "dlclose");
BIND("dlerror", "dlerror");
BIND("dlvsym", "dlvsym");
#ifndef DEFINES_DLOPEN /* as librooflinetry.so does */
BIND("dlopen", "dlopen");
BIND("dlsym", "dlsym");
#endif
BIND("pthread_create", "pthread_create");
BIND("pthread_detach", "pthread_detach");
BIND("pthread_join", "pthread_join");
BIND("pthread_key_create", "pthread_key_create");
BIND("pthread_getspecific", "pthread_getspecific");
BIND("pthread_setspecific", "pthread_setspecific");
BIND("pthread_mutex_timedlock", "pthread_mutex_timedlock");
BIND("pthread_mutex_trylock", "pthread_mutex_trylock");
BIND("pthread_once", "pthread_once");
BIND("pthread_rwlock_destroy", "pthread_rwlock_destroy");
BIND("pthread_rwlock_init", "pthread_rwlock_init");
BIND("pthread_rwlock_rdlock", "pthread_rwlock_rdlock");
BIND("pthread_rwlock_unlock", "pthread_rwlock_unlock");
BIND("pthread_rwlock_wrlock", "pthread_rwlock_wrlock");
BIND("pthread_sigmask", "pthread_sigmask");
BIND("sem_destroy", "sem_destroy");
BIND("sem_init", "sem_init");
BIND("sem_post", "sem_post");
BIND("sem_timedwait", "sem_timedwait");
BIND("sem_trywait", "sem_trywait");
BIND("sem_wait", "sem_wait");
BIND_TO(THIRD_GLIBC, "dladdr1", "dladdr1");
BIND_TO(THIRD_GLIBC, "pthread_condattr_setclock", "pthread_condattr_setclock");
BIND_TO(THIRD_GLIBC, "pthread_tryjoin_np", "pthread_tryjoin_np");
/* Headers of glibc 2.38 and newer call these so. */
BIND("__isoc23_strtol", "strtol");
BIND("__isoc23_strtoll", "strtoll");
BIND("__isoc23_strtoul", "strtoul");
BIND("__isoc23_strtoull", "strtoull");
#undef BIND
#undef BIND_TO
#endif

#endif
