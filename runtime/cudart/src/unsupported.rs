//! Functions of the interface that the emulator does not have: each says so, and returns `cudaErrorNotSupported`.
//!
//! They are all others that `libcudart.so` of CUDA 12 and 13 exports, so that a program that calls none of them starts.

use std::ffi::c_int;

use crate::Error;
use crate::program::call;

macro_rules! unsupported {
    ($($name:ident),* $(,)?) => {
        $(
            /// Says that the emulator does not have the function.
            #[unsafe(no_mangle)]
            pub extern "C" fn $name() -> c_int {
                refused(stringify!($name))
            }
        )*

        /// The names of the functions.
        #[cfg(test)]
        pub(crate) const NAMES: &[&str] = &[$(stringify!($name)),*];
    };
}

fn refused(name: &str) -> c_int {
    let text = "the emulator's CUDA runtime does not have the function; docs/emulator-cuda.md lists those that it has";
    call(name, |program| {
        Err(program.refuse(name, text, Error::NotSupported))
    })
}

unsupported! {
    __cudaGetProcAddress, __cudaRegisterUnifiedTable, cudaArrayGetInfo, cudaArrayGetMemoryRequirements,
    cudaArrayGetPlane, cudaArrayGetSparseProperties, cudaCreateSurfaceObject, cudaCreateTextureObject,
    cudaDestroyExternalMemory, cudaDestroyExternalSemaphore, cudaDestroySurfaceObject,
    cudaDestroyTextureObject, cudaDevResourceGenerateDesc, cudaDevSmResourceSplit,
    cudaDevSmResourceSplitByCount, cudaDeviceFlushGPUDirectRDMAWrites, cudaDeviceGetDevResource,
    cudaDeviceGetExecutionCtx, cudaDeviceGetGraphMemAttribute, cudaDeviceGetHostAtomicCapabilities,
    cudaDeviceGetNvSciSyncAttributes, cudaDeviceGetP2PAtomicCapabilities,
    cudaDeviceGetTexture1DLinearMaxWidth, cudaDeviceGraphMemTrim, cudaDeviceRegisterAsyncNotification,
    cudaDeviceSetGraphMemAttribute, cudaDeviceUnregisterAsyncNotification, cudaEGLStreamConsumerAcquireFrame,
    cudaEGLStreamConsumerConnect, cudaEGLStreamConsumerConnectWithFlags, cudaEGLStreamConsumerDisconnect,
    cudaEGLStreamConsumerReleaseFrame, cudaEGLStreamProducerConnect, cudaEGLStreamProducerDisconnect,
    cudaEGLStreamProducerPresentFrame, cudaEGLStreamProducerReturnFrame, cudaEventCreateFromEGLSync,
    cudaExecutionCtxDestroy, cudaExecutionCtxGetDevResource, cudaExecutionCtxGetDevice, cudaExecutionCtxGetId,
    cudaExecutionCtxRecordEvent, cudaExecutionCtxStreamCreate, cudaExecutionCtxSynchronize,
    cudaExecutionCtxWaitEvent, cudaExternalMemoryGetMappedBuffer, cudaExternalMemoryGetMappedMipmappedArray,
    cudaFreeArray, cudaFreeMipmappedArray, cudaFuncGetName, cudaFuncGetParamCount, cudaFuncGetParamInfo,
    cudaGLGetDevices, cudaGLMapBufferObject, cudaGLMapBufferObjectAsync, cudaGLRegisterBufferObject,
    cudaGLSetBufferObjectMapFlags, cudaGLSetGLDevice, cudaGLUnmapBufferObject, cudaGLUnmapBufferObjectAsync,
    cudaGLUnregisterBufferObject, cudaGetChannelDesc, cudaGetDriverEntryPoint,
    cudaGetDriverEntryPointByVersion, cudaGetDriverEntryPointByVersion_ptsz, cudaGetDriverEntryPoint_ptsz,
    cudaGetExportTable, cudaGetFuncBySymbol, cudaGetKernel, cudaGetMipmappedArrayLevel,
    cudaGetSurfaceObjectResourceDesc, cudaGetTextureObjectResourceDesc, cudaGetTextureObjectResourceViewDesc,
    cudaGetTextureObjectTextureDesc, cudaGraphAddExternalSemaphoresSignalNode,
    cudaGraphAddExternalSemaphoresWaitNode, cudaGraphAddMemAllocNode, cudaGraphAddMemFreeNode,
    cudaGraphConditionalHandleCreate, cudaGraphConditionalHandleCreate_v2, cudaGraphDebugDotPrint,
    cudaGraphExecChildGraphNodeSetParams, cudaGraphExecExternalSemaphoresSignalNodeSetParams,
    cudaGraphExecExternalSemaphoresWaitNodeSetParams, cudaGraphExecGetId,
    cudaGraphExternalSemaphoresSignalNodeGetParams, cudaGraphExternalSemaphoresSignalNodeSetParams,
    cudaGraphExternalSemaphoresWaitNodeGetParams, cudaGraphExternalSemaphoresWaitNodeSetParams,
    cudaGraphGetId, cudaGraphKernelNodeCopyAttributes, cudaGraphKernelNodeGetAttribute,
    cudaGraphKernelNodeSetAttribute, cudaGraphMemAllocNodeGetParams, cudaGraphMemFreeNodeGetParams,
    cudaGraphNodeGetLocalId, cudaGraphNodeGetParams, cudaGraphNodeGetToolsId, cudaGraphReleaseUserObject,
    cudaGraphRetainUserObject, cudaGraphicsEGLRegisterImage, cudaGraphicsGLRegisterBuffer,
    cudaGraphicsGLRegisterImage, cudaGraphicsMapResources, cudaGraphicsResourceGetMappedEglFrame,
    cudaGraphicsResourceGetMappedMipmappedArray, cudaGraphicsResourceGetMappedPointer,
    cudaGraphicsResourceSetMapFlags, cudaGraphicsSubResourceGetMappedArray, cudaGraphicsUnmapResources,
    cudaGraphicsUnregisterResource, cudaGraphicsVDPAURegisterOutputSurface,
    cudaGraphicsVDPAURegisterVideoSurface, cudaGreenCtxCreate, cudaHostGetFlags, cudaImportExternalMemory,
    cudaImportExternalSemaphore, cudaIpcCloseMemHandle, cudaIpcGetEventHandle, cudaIpcGetMemHandle,
    cudaIpcOpenEventHandle, cudaIpcOpenMemHandle, cudaKernelSetAttributeForDevice,
    cudaLaunchCooperativeKernelMultiDevice, cudaLaunchHostFunc_v2, cudaLaunchHostFunc_v2_ptsz,
    cudaLibraryEnumerateKernels, cudaLibraryGetGlobal, cudaLibraryGetKernel, cudaLibraryGetKernelCount,
    cudaLibraryGetManaged, cudaLibraryGetUnifiedFunction, cudaLibraryLoadData, cudaLibraryLoadFromFile,
    cudaLibraryUnload, cudaLogsCurrent, cudaLogsDumpToFile, cudaLogsDumpToMemory, cudaLogsRegisterCallback,
    cudaLogsUnregisterCallback, cudaMalloc3DArray, cudaMallocArray, cudaMallocMipmappedArray,
    cudaMemDiscardAndPrefetchBatchAsync, cudaMemDiscardAndPrefetchBatchAsync_ptsz, cudaMemDiscardBatchAsync,
    cudaMemDiscardBatchAsync_ptsz, cudaMemGetDefaultMemPool, cudaMemGetLocationInfo, cudaMemGetMemPool,
    cudaMemPoolExportPointer, cudaMemPoolExportToShareableHandle, cudaMemPoolGetAccess,
    cudaMemPoolImportFromShareableHandle, cudaMemPoolImportPointer, cudaMemPrefetchBatchAsync,
    cudaMemPrefetchBatchAsync_ptsz, cudaMemRangeGetAttribute, cudaMemRangeGetAttributes, cudaMemSetMemPool,
    cudaMemcpy2DArrayToArray, cudaMemcpy2DArrayToArray_ptds, cudaMemcpy2DFromArray,
    cudaMemcpy2DFromArrayAsync, cudaMemcpy2DFromArrayAsync_ptsz, cudaMemcpy2DFromArray_ptds,
    cudaMemcpy2DToArray, cudaMemcpy2DToArrayAsync, cudaMemcpy2DToArrayAsync_ptsz, cudaMemcpy2DToArray_ptds,
    cudaMemcpy3DBatchAsync, cudaMemcpy3DBatchAsync_ptsz, cudaMemcpy3DPeer, cudaMemcpy3DPeerAsync,
    cudaMemcpy3DPeerAsync_ptsz, cudaMemcpy3DPeer_ptds, cudaMemcpy3DWithAttributesAsync,
    cudaMemcpy3DWithAttributesAsync_ptsz, cudaMemcpyArrayToArray, cudaMemcpyArrayToArray_ptds,
    cudaMemcpyBatchAsync, cudaMemcpyBatchAsync_ptsz, cudaMemcpyFromArray, cudaMemcpyFromArrayAsync,
    cudaMemcpyFromArrayAsync_ptsz, cudaMemcpyFromArray_ptds, cudaMemcpyToArray, cudaMemcpyToArrayAsync,
    cudaMemcpyToArrayAsync_ptsz, cudaMemcpyToArray_ptds, cudaMemcpyWithAttributesAsync,
    cudaMemcpyWithAttributesAsync_ptsz, cudaMipmappedArrayGetMemoryRequirements,
    cudaMipmappedArrayGetSparseProperties, cudaOccupancyAvailableDynamicSMemPerBlock,
    cudaOccupancyMaxActiveClusters, cudaOccupancyMaxPotentialClusterSize, cudaSetDoubleForDevice,
    cudaSetDoubleForHost, cudaSignalExternalSemaphoresAsync, cudaSignalExternalSemaphoresAsync_ptsz,
    cudaSignalExternalSemaphoresAsync_v2, cudaSignalExternalSemaphoresAsync_v2_ptsz,
    cudaStreamBeginRecaptureToGraph, cudaStreamBeginRecaptureToGraph_ptsz, cudaStreamGetDevResource,
    cudaStreamGetDevResource_ptsz, cudaSubgridCreate, cudaSubgridWorkerGridCreate, cudaSubgridWorksetCreate,
    cudaUserObjectCreate, cudaUserObjectRelease, cudaUserObjectRetain, cudaVDPAUGetDevice,
    cudaVDPAUSetVDPAUDevice, cudaWaitExternalSemaphoresAsync, cudaWaitExternalSemaphoresAsync_ptsz,
    cudaWaitExternalSemaphoresAsync_v2, cudaWaitExternalSemaphoresAsync_v2_ptsz
}
