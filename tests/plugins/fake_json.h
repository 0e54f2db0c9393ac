// detent.json/1 over the core's JSON, for FakeHost. Static table; one thread.

#pragma once

#include "detent/services/json.h"

namespace detent::testing {

const detent_json* FakeJson();

// A buffer of FakeHost, with one reference.
detent_buf NewBuffer(const void* bytes, size_t size);
// The reference count's other half.
void ReleaseBuffer(detent_buf buf);
void RetainBuffer(detent_buf buf);
bool ViewBuffer(detent_buf buf, detent_bytes* out);
// Buffers that nobody has released.
size_t LiveBuffers();

}  // namespace detent::testing
