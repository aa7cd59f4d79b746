/* nvtx_ranges: nested ranges, domains, registered strings, marks and threads, with kernels inside.
 * nvtx_ranges [--threads N] [--steps N]
 * Prints how many ranges and marks a recording must hold, and what a step took. */
#include <chrono>
#include <string>
#include <thread>

#include <nvtx3/nvToolsExt.h>

#include "trial.cuh"

static nvtxDomainHandle_t domain;
static nvtxStringHandle_t registered;

static nvtxEventAttributes_t attributes(const char *text, nvtxStringHandle_t handle)
{
	nvtxEventAttributes_t event = {};

	event.version = NVTX_VERSION;
	event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
	event.colorType = NVTX_COLOR_ARGB;
	event.color = 0xff3366cc;
	event.messageType = handle ? NVTX_MESSAGE_TYPE_REGISTERED : NVTX_MESSAGE_TYPE_ASCII;
	if (handle)
		event.message.registered = handle;
	else
		event.message.ascii = text;
	return event;
}

/* step > two in a domain, one of them by a registered string > kernel: 3 ranges and 1 mark. */
static void nested_step(cudaStream_t stream)
{
	nvtxEventAttributes_t in_domain = attributes("in a domain", nullptr);
	nvtxEventAttributes_t by_handle = attributes(nullptr, registered);

	nvtxRangePushA("step");
	nvtxDomainRangePushEx(domain, &in_domain);
	nvtxDomainRangePushEx(domain, &by_handle);
	CUDA_LAUNCH(empty_kernel<<<1, 1, 0, stream>>>());
	nvtxDomainRangePop(domain);
	nvtxDomainRangePop(domain);
	nvtxMarkA("launched, \"quoted\"\nand on two lines"); /* CSV has to quote this */
	nvtxRangePop();
}

static void run_thread(long number, long steps, nvtxRangeId_t started_in_main)
{
	std::string name = "worker " + std::to_string(number);
	cudaStream_t stream;

	CUDA_CHECK(cudaStreamCreate(&stream));
	nvtxRangePushA(name.c_str());
	for (long step = 0; step < steps; step++)
		nested_step(stream);
	CUDA_CHECK(cudaStreamSynchronize(stream));
	nvtxRangePop();
	nvtxRangeEnd(started_in_main); /* started and ended by different threads */
	CUDA_CHECK(cudaStreamDestroy(stream));
}

int main(int argc, char **argv)
{
	long threads = 4, steps = 10;
	std::vector<std::thread> workers;

	trial_parse(argc, argv, {{"threads", &threads}, {"steps", &steps}});
	domain = nvtxDomainCreateA("trial");
	registered = nvtxDomainRegisterStringA(domain, "registered name");
	CUDA_CHECK(cudaFree(nullptr));
	auto start = std::chrono::steady_clock::now();
	for (long i = 0; i < threads; i++)
		workers.emplace_back(run_thread, i, steps, nvtxRangeStartA("across threads"));
	for (std::thread &worker : workers)
		worker.join();
	std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - start;
	nvtxRangePushA("never ended");
	printf("kernels %ld\nranges %ld\nmarks %ld\nunended 1\n", threads * steps,
	       threads * (2 + 3 * steps), threads * steps);
	printf("ns_per_step %.1f\n", taken.count() / (double)steps);
	return 0;
}
