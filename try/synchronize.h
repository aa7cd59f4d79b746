/*
 * synchronize.h - the functions of handlers.h that wait, or say what waits for what, with the arguments of cuda.h.
 */
#ifndef ROOFLINE_TRY_SYNCHRONIZE_H
#define ROOFLINE_TRY_SYNCHRONIZE_H

#include <cuda.h>

CUresult try_synchronize_stream(CUstream stream);
CUresult try_synchronize_stream_ptsz(CUstream stream);
CUresult try_synchronize_context(void);
CUresult try_synchronize_context_v2(CUcontext context); /* NULL: the current one */
CUresult try_synchronize_event(CUevent event);
CUresult try_create_event(CUevent *event, unsigned flags);
CUresult try_destroy_event(CUevent event);
CUresult try_record_event(CUevent event, CUstream stream);
CUresult try_record_event_ptsz(CUevent event, CUstream stream);
CUresult try_record_event_with(CUevent event, CUstream stream, unsigned flags);
CUresult try_record_event_with_ptsz(CUevent event, CUstream stream, unsigned flags);
CUresult try_wait_event(CUstream stream, CUevent event, unsigned flags);
CUresult try_wait_event_ptsz(CUstream stream, CUevent event, unsigned flags);
CUresult try_destroy_stream(CUstream stream);

#endif
