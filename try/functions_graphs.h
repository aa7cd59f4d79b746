/* functions_graphs.h - driver functions of graphs, graphics; functions.h says what a row means. */
#ifndef ROOFLINE_TRY_FUNCTIONS_GRAPHS_H
#define ROOFLINE_TRY_FUNCTIONS_GRAPHS_H

#define TRY_FUNCTIONS_GRAPHS(FUNCTION)                                                            \
	FUNCTION("cuGraphAddBatchMemOpNode", FLUSHES, LEAVES, SHOWS, TAKES)                       \
	FUNCTION("cuGraphAddChildGraphNode", FLUSHES, LEAVES, SHOWS, UNAWARE)                     \
	FUNCTION("cuGraphAddDependencies", FLUSHES, LEAVES, SHOWS, UNAWARE)                       \
	FUNCTION("cuGraphAddDependencies_v2", FLUSHES, LEAVES, SHOWS, UNAWARE)                    \
	FUNCTION("cuGraphAddEmptyNode", FLUSHES, LEAVES, SHOWS, UNAWARE)                          \
	FUNCTION("cuGraphAddEventRecordNode", FLUSHES, LEAVES, SHOWS, UNAWARE)                    \
	FUNCTION("cuGraphAddEventWaitNode", FLUSHES, LEAVES, SHOWS, UNAWARE)                      \
	FUNCTION("cuGraphAddExternalSemaphoresSignalNode", FLUSHES, LEAVES, SHOWS, UNAWARE)       \
	FUNCTION("cuGraphAddExternalSemaphoresWaitNode", FLUSHES, LEAVES, SHOWS, UNAWARE)         \
	FUNCTION("cuGraphAddHostNode", FLUSHES, LEAVES, SHOWS, UNAWARE)                           \
	FUNCTION("cuGraphAddKernelNode", FLUSHES, LEAVES, SHOWS, UNAWARE)                         \
	FUNCTION("cuGraphAddKernelNode_v2", FLUSHES, LEAVES, SHOWS, UNAWARE)                      \
	FUNCTION("cuGraphAddMemAllocNode", FLUSHES, ENDS, SHOWS, UNAWARE)                         \
	FUNCTION("cuGraphAddMemFreeNode", FLUSHES, LEAVES, SHOWS, UNAWARE)                        \
	FUNCTION("cuGraphAddMemcpyNode", FLUSHES, LEAVES, SHOWS, TAKES)                           \
	FUNCTION("cuGraphAddMemsetNode", FLUSHES, LEAVES, SHOWS, UNAWARE)                         \
	FUNCTION("cuGraphAddNode", FLUSHES, ENDS, SHOWS, TAKES)                                   \
	FUNCTION("cuGraphAddNode_v2", FLUSHES, ENDS, SHOWS, TAKES)                                \
	FUNCTION("cuGraphBatchMemOpNodeGetParams", FLUSHES, LEAVES, SHOWS, UNAWARE)               \
	FUNCTION("cuGraphBatchMemOpNodeSetParams", FLUSHES, LEAVES, SHOWS, TAKES)                 \
	FUNCTION("cuGraphChildGraphNodeGetGraph", FLUSHES, LEAVES, SHOWS, UNAWARE)                \
	FUNCTION("cuGraphClone", FLUSHES, LEAVES, SHOWS, UNAWARE)                                 \
	FUNCTION("cuGraphConditionalHandleCreate", FLUSHES, LEAVES, SHOWS, UNAWARE)               \
	FUNCTION("cuGraphCreate", FLUSHES, LEAVES, SHOWS, UNAWARE)                                \
	FUNCTION("cuGraphDebugDotPrint", FLUSHES, LEAVES, SHOWS, UNAWARE)                         \
	FUNCTION("cuGraphDestroy", FLUSHES, LEAVES, SHOWS, UNAWARE)                               \
	FUNCTION("cuGraphDestroyNode", FLUSHES, LEAVES, SHOWS, UNAWARE)                           \
	FUNCTION("cuGraphEventRecordNodeGetEvent", FLUSHES, LEAVES, SHOWS, UNAWARE)               \
	FUNCTION("cuGraphEventRecordNodeSetEvent", FLUSHES, LEAVES, SHOWS, UNAWARE)               \
	FUNCTION("cuGraphEventWaitNodeGetEvent", FLUSHES, LEAVES, SHOWS, UNAWARE)                 \
	FUNCTION("cuGraphEventWaitNodeSetEvent", FLUSHES, LEAVES, SHOWS, UNAWARE)                 \
	FUNCTION("cuGraphExecBatchMemOpNodeSetParams", FLUSHES, LEAVES, SHOWS, TAKES)             \
	FUNCTION("cuGraphExecChildGraphNodeSetParams", FLUSHES, LEAVES, SHOWS, UNAWARE)           \
	FUNCTION("cuGraphExecDestroy", FLUSHES, LEAVES, SHOWS, UNAWARE)                           \
	FUNCTION("cuGraphExecEventRecordNodeSetEvent", FLUSHES, LEAVES, SHOWS, UNAWARE)           \
	FUNCTION("cuGraphExecEventWaitNodeSetEvent", FLUSHES, LEAVES, SHOWS, UNAWARE)             \
	FUNCTION("cuGraphExecExternalSemaphoresSignalNodeSetParams", FLUSHES, LEAVES, SHOWS,      \
		 UNAWARE)                                                                         \
	FUNCTION("cuGraphExecExternalSemaphoresWaitNodeSetParams", FLUSHES, LEAVES, SHOWS,        \
		 UNAWARE)                                                                         \
	FUNCTION("cuGraphExecGetFlags", FLUSHES, LEAVES, SHOWS, UNAWARE)                          \
	FUNCTION("cuGraphExecHostNodeSetParams", FLUSHES, LEAVES, SHOWS, UNAWARE)                 \
	FUNCTION("cuGraphExecKernelNodeSetParams", FLUSHES, LEAVES, SHOWS, UNAWARE)               \
	FUNCTION("cuGraphExecKernelNodeSetParams_v2", FLUSHES, LEAVES, SHOWS, UNAWARE)            \
	FUNCTION("cuGraphExecMemcpyNodeSetParams", FLUSHES, LEAVES, SHOWS, TAKES)                 \
	FUNCTION("cuGraphExecMemsetNodeSetParams", FLUSHES, LEAVES, SHOWS, UNAWARE)               \
	FUNCTION("cuGraphExecNodeSetParams", FLUSHES, LEAVES, SHOWS, TAKES)                       \
	FUNCTION("cuGraphExecUpdate", FLUSHES, LEAVES, SHOWS, SEES)                               \
	FUNCTION("cuGraphExecUpdate_v2", FLUSHES, LEAVES, SHOWS, SEES)                            \
	FUNCTION("cuGraphExternalSemaphoresSignalNodeGetParams", FLUSHES, LEAVES, SHOWS, UNAWARE) \
	FUNCTION("cuGraphExternalSemaphoresSignalNodeSetParams", FLUSHES, LEAVES, SHOWS, UNAWARE) \
	FUNCTION("cuGraphExternalSemaphoresWaitNodeGetParams", FLUSHES, LEAVES, SHOWS, UNAWARE)   \
	FUNCTION("cuGraphExternalSemaphoresWaitNodeSetParams", FLUSHES, LEAVES, SHOWS, UNAWARE)   \
	FUNCTION("cuGraphGetEdges", FLUSHES, LEAVES, SHOWS, UNAWARE)                              \
	FUNCTION("cuGraphGetEdges_v2", FLUSHES, LEAVES, SHOWS, UNAWARE)                           \
	FUNCTION("cuGraphGetNodes", FLUSHES, LEAVES, SHOWS, UNAWARE)                              \
	FUNCTION("cuGraphGetRootNodes", FLUSHES, LEAVES, SHOWS, UNAWARE)                          \
	FUNCTION("cuGraphHostNodeGetParams", FLUSHES, LEAVES, SHOWS, UNAWARE)                     \
	FUNCTION("cuGraphHostNodeSetParams", FLUSHES, LEAVES, SHOWS, UNAWARE)                     \
	FUNCTION("cuGraphInstantiate", FLUSHES, RETURNS, SHOWS, SEES)                             \
	FUNCTION("cuGraphInstantiateWithFlags", FLUSHES, RETURNS, SHOWS, SEES)                    \
	FUNCTION("cuGraphInstantiateWithParams", FLUSHES, RETURNS, SHOWS, SEES)                   \
	FUNCTION("cuGraphInstantiateWithParams_ptsz", FLUSHES, RETURNS, SHOWS, SEES)              \
	FUNCTION("cuGraphInstantiate_v2", FLUSHES, RETURNS, SHOWS, SEES)                          \
	FUNCTION("cuGraphKernelNodeCopyAttributes", FLUSHES, LEAVES, SHOWS, UNAWARE)              \
	FUNCTION("cuGraphKernelNodeGetAttribute", FLUSHES, LEAVES, SHOWS, UNAWARE)                \
	FUNCTION("cuGraphKernelNodeGetParams", FLUSHES, LEAVES, SHOWS, UNAWARE)                   \
	FUNCTION("cuGraphKernelNodeGetParams_v2", FLUSHES, LEAVES, SHOWS, UNAWARE)                \
	FUNCTION("cuGraphKernelNodeSetAttribute", FLUSHES, LEAVES, SHOWS, UNAWARE)                \
	FUNCTION("cuGraphKernelNodeSetParams", FLUSHES, LEAVES, SHOWS, UNAWARE)                   \
	FUNCTION("cuGraphKernelNodeSetParams_v2", FLUSHES, LEAVES, SHOWS, UNAWARE)                \
	FUNCTION("cuGraphLaunch", HANDLED, LEAVES, QUIET, UNAWARE)                                \
	FUNCTION("cuGraphLaunch_ptsz", HANDLED, LEAVES, QUIET, UNAWARE)                           \
	FUNCTION("cuGraphMemAllocNodeGetParams", FLUSHES, LEAVES, SHOWS, UNAWARE)                 \
	FUNCTION("cuGraphMemFreeNodeGetParams", FLUSHES, LEAVES, SHOWS, UNAWARE)                  \
	FUNCTION("cuGraphMemcpyNodeGetParams", FLUSHES, LEAVES, SHOWS, TAKES)                     \
	FUNCTION("cuGraphMemcpyNodeSetParams", FLUSHES, LEAVES, SHOWS, TAKES)                     \
	FUNCTION("cuGraphMemsetNodeGetParams", FLUSHES, LEAVES, SHOWS, UNAWARE)                   \
	FUNCTION("cuGraphMemsetNodeSetParams", FLUSHES, LEAVES, SHOWS, UNAWARE)                   \
	FUNCTION("cuGraphNodeFindInClone", FLUSHES, LEAVES, SHOWS, UNAWARE)                       \
	FUNCTION("cuGraphNodeGetDependencies", FLUSHES, LEAVES, SHOWS, UNAWARE)                   \
	FUNCTION("cuGraphNodeGetDependencies_v2", FLUSHES, LEAVES, SHOWS, UNAWARE)                \
	FUNCTION("cuGraphNodeGetDependentNodes", FLUSHES, LEAVES, SHOWS, UNAWARE)                 \
	FUNCTION("cuGraphNodeGetDependentNodes_v2", FLUSHES, LEAVES, SHOWS, UNAWARE)              \
	FUNCTION("cuGraphNodeGetEnabled", FLUSHES, LEAVES, SHOWS, UNAWARE)                        \
	FUNCTION("cuGraphNodeGetType", FLUSHES, LEAVES, SHOWS, UNAWARE)                           \
	FUNCTION("cuGraphNodeSetEnabled", FLUSHES, LEAVES, SHOWS, UNAWARE)                        \
	FUNCTION("cuGraphNodeSetParams", FLUSHES, LEAVES, SHOWS, TAKES)                           \
	FUNCTION("cuGraphReleaseUserObject", FLUSHES, LEAVES, SHOWS, UNAWARE)                     \
	FUNCTION("cuGraphRemoveDependencies", FLUSHES, LEAVES, SHOWS, UNAWARE)                    \
	FUNCTION("cuGraphRemoveDependencies_v2", FLUSHES, LEAVES, SHOWS, UNAWARE)                 \
	FUNCTION("cuGraphRetainUserObject", FLUSHES, LEAVES, SHOWS, UNAWARE)                      \
	FUNCTION("cuGraphUpload", FLUSHES, RETURNS, SHOWS, SEES)                                  \
	FUNCTION("cuGraphUpload_ptsz", FLUSHES, RETURNS, SHOWS, SEES)                             \
	FUNCTION("cuGraphicsMapResources", FLUSHES, LEAVES, EXPOSES, UNAWARE)                     \
	FUNCTION("cuGraphicsMapResources_ptsz", FLUSHES, LEAVES, EXPOSES, UNAWARE)                \
	FUNCTION("cuGraphicsResourceGetMappedMipmappedArray", FLUSHES, LEAVES, EXPOSES, UNAWARE)  \
	FUNCTION("cuGraphicsResourceGetMappedPointer", FLUSHES, LEAVES, EXPOSES, UNAWARE)         \
	FUNCTION("cuGraphicsResourceGetMappedPointer_v2", FLUSHES, LEAVES, EXPOSES, UNAWARE)      \
	FUNCTION("cuGraphicsResourceSetMapFlags", FLUSHES, LEAVES, EXPOSES, UNAWARE)              \
	FUNCTION("cuGraphicsResourceSetMapFlags_v2", FLUSHES, LEAVES, EXPOSES, UNAWARE)           \
	FUNCTION("cuGraphicsSubResourceGetMappedArray", FLUSHES, LEAVES, EXPOSES, UNAWARE)        \
	FUNCTION("cuGraphicsUnmapResources", FREES, LEAVES, EXPOSES, UNAWARE)                     \
	FUNCTION("cuGraphicsUnmapResources_ptsz", FREES, LEAVES, EXPOSES, UNAWARE)                \
	FUNCTION("cuGraphicsUnregisterResource", FREES, LEAVES, EXPOSES, UNAWARE)                 \
	FUNCTION("cuUserObjectCreate", FLUSHES, LEAVES, SHOWS, UNAWARE)                           \
	FUNCTION("cuUserObjectRelease", FLUSHES, LEAVES, SHOWS, UNAWARE)                          \
	FUNCTION("cuUserObjectRetain", FLUSHES, LEAVES, SHOWS, UNAWARE)

#endif
