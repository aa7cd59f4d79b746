#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture_fusion.h"

const struct moved chain[3] = {{"gelu", 180 * MB, 180 * MB, 360 * MB},
			       {"dropout", 180 * MB, 180 * MB, 360 * MB},
			       {"scale", 180 * MB, 180 * MB, 360 * MB}};

struct builder *moving_loop(const struct moved *parts, size_t count, int64_t pause_ns)
{
	struct builder *b = builder_new(1, 1);
	int64_t now = 0, gpu = 0;

	b->devices[0].l2_bytes = L2_BYTES;
	for (size_t i = 0; i < count; i++) {
		uint32_t signature = builder_signature(b, parts[i].name, 1000);

		builder_counter(b, false, signature, METRIC_dram_read_bytes, 3, parts[i].read);
		builder_counter(b, false, signature, METRIC_dram_write_bytes, 3, parts[i].written);
		if (parts[i].l1 > 0)
			builder_counter(b, false, signature, METRIC_l1_bytes, 3, parts[i].l1);
	}
	for (int i = 0; i < MOVING_ITERATIONS; i++) {
		for (size_t j = 0; j < count; j++, now += 4000) {
			gpu = gpu + 1000 > now + 5000 ? gpu + 1000 : now + 5000;
			builder_op(b, OP_KERNEL, 0, builder_signature(b, parts[j].name, 1000), gpu,
				   gpu + KERNEL_NS, builder_launch(b, 0, now, now + 4000));
			gpu += KERNEL_NS;
		}
		builder_call(b, 0, "cudaStreamSynchronize", CALL_SYNC, now, gpu + 3000);
		now = gpu + 3000 + pause_ns;
	}
	return b;
}

struct fusion moving_fusion(const struct builder *b, struct fusion_kernel *kernels)
{
	for (size_t i = 0; i < b->profile.signature_count; i++)
		kernels[i] = fusion_counted(&b->profile, (uint32_t)i);
	return (struct fusion){.kernels = kernels,
			       .dram_byte_per_s = 4e12,
			       .l2_bytes = (double)L2_BYTES};
}
