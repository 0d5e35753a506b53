// A device type of torch for tests, `toy`: two devices whose memory is that of the processor, with streams, events and
// generators of their own. Each operation runs torch's kernel for the CPU on aliases of the tensors, without a copy.
//
// The environment sets what a test provokes: TOY_BYTES is the memory of a device, and TOY_LOST=1:500 loses device 1
// with the 500th operation on it.

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/EmptyTensor.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/core/impl/alloc_cpu.h>
#include <torch/library.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <set>

namespace at::autocast {  // their header takes ten times as long to compile as this file
TORCH_API Tensor cached_cast(ScalarType to_type, const Tensor& arg, DeviceType device_type);
TORCH_API ScalarType get_autocast_dtype(DeviceType device_type);
} // namespace at::autocast

namespace {

constexpr auto kToy = c10::DeviceType::PrivateUse1;
constexpr int kDevices = 2;
thread_local c10::DeviceIndex current = 0;
thread_local c10::StreamId current_stream[kDevices] = {};
std::atomic<c10::StreamId> last_stream{0};

long limit() {
  static const char* words = std::getenv("TOY_BYTES");
  return words ? std::atol(words) : 1L << 34;
}

// ---- devices that are lost ----

std::atomic<long> operations[kDevices] = {};

struct Loss {
  int device = -1;
  long after = 0;
  Loss() {
    if (const char* words = std::getenv("TOY_LOST"))
      std::sscanf(words, "%d:%ld", &device, &after);
  }
};

void check(c10::DeviceIndex device, int count = 0) {
  static const Loss loss;
  TORCH_CHECK(device >= 0 && device < kDevices, "toy error: invalid device ordinal ", int(device));
  if ((operations[device] += count) >= loss.after && device == loss.device)
    throw c10::AcceleratorError({__func__, __FILE__, __LINE__}, 719, "toy error: the device is lost");
}

// ---- memory ----

struct Block {  // memory of the processor, which counts as that of a device
  c10::DeviceIndex device;
  size_t bytes;
  c10::Storage storage;
};

std::mutex lock;
c10::CachingDeviceAllocator::DeviceStats stats[kDevices];

void release(void* context) {
  auto* block = static_cast<Block*>(context);
  {
    std::lock_guard<std::mutex> held(lock);
    stats[block->device].allocated_bytes[0].decrease(block->bytes);
    stats[block->device].reserved_bytes[0].decrease(block->bytes);
  }
  delete block;
}

c10::DataPtr own(c10::DeviceIndex device, c10::Storage storage) {
  size_t bytes = storage.nbytes();
  void* data = storage.mutable_data();
  {
    std::lock_guard<std::mutex> held(lock);
    long now = stats[device].allocated_bytes[0].current;
    TORCH_CHECK_WITH(OutOfMemoryError, now + long(bytes) <= limit(),
        "toy out of memory. Tried to allocate ", bytes / 1048576.0, " MiB. GPU ", int(device),
        " has a total capacity of ", limit() / 1073741824.0, " GiB of which ", (limit() - now) / 1073741824.0,
        " GiB is free.");
    stats[device].allocated_bytes[0].increase(bytes);
    stats[device].reserved_bytes[0].increase(bytes);
  }
  auto* block = new Block{device, bytes, std::move(storage)};
  return {data, block, &release, c10::Device(kToy, device)};
}

struct Allocator final : c10::DeviceAllocator {
  c10::DataPtr allocate(size_t bytes) override {
    check(current);
    return own(current, c10::Storage(c10::Storage::use_byte_size_t(), bytes, c10::GetCPUAllocator(), true));
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void* to, const void* from, size_t bytes) const override { std::memcpy(to, from, bytes); }
  bool initialized() override { return true; }
  void emptyCache(c10::MempoolId_t) override {}
  void recordStream(const c10::DataPtr&, c10::Stream) override {}
  c10::CachingDeviceAllocator::DeviceStats getDeviceStats(c10::DeviceIndex device) override {
    std::lock_guard<std::mutex> held(lock);
    return stats[device];
  }
  void resetAccumulatedStats(c10::DeviceIndex) override {}
  void resetPeakStats(c10::DeviceIndex device) override {
    std::lock_guard<std::mutex> held(lock);
    stats[device].allocated_bytes[0].reset_peak();
    stats[device].reserved_bytes[0].reset_peak();
  }
  std::pair<size_t, size_t> getMemoryInfo(c10::DeviceIndex device) override {
    std::lock_guard<std::mutex> held(lock);
    return {limit() - stats[device].allocated_bytes[0].current, limit()};
  }
};

Allocator allocator;

std::set<const void*> pinned;  // memory of the processor that says that a device reads it by itself

void unpin(void* context) {
  std::lock_guard<std::mutex> held(lock);
  pinned.erase(context);
  c10::free_cpu(context);
}

struct PinnedAllocator final : c10::Allocator {
  c10::DataPtr allocate(size_t bytes) override {
    void* data = c10::alloc_cpu(std::max<size_t>(bytes, 1));
    std::lock_guard<std::mutex> held(lock);
    pinned.insert(data);
    return {data, data, &unpin, c10::kCPU};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &unpin; }
  void copy_data(void* to, const void* from, size_t bytes) const override { std::memcpy(to, from, bytes); }
};

PinnedAllocator pinned_allocator;

// ---- devices, streams, events ----

struct Guard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return kToy; }
  c10::Device exchangeDevice(c10::Device device) const override {
    auto before = getDevice();
    setDevice(device);
    return before;
  }
  c10::Device getDevice() const override { return {kToy, current}; }
  void setDevice(c10::Device device) const override {
    TORCH_CHECK(device.index() < kDevices, "toy error: invalid device ordinal ", int(device.index()));
    uncheckedSetDevice(device);
  }
  void uncheckedSetDevice(c10::Device device) const noexcept override {
    if (device.has_index())
      current = device.index();
  }
  c10::DeviceIndex deviceCount() const noexcept override { return kDevices; }
  c10::Stream stream(c10::Device device, c10::StreamId id) const {
    auto number = device.has_index() ? device.index() : current;
    return c10::Stream(c10::Stream::UNSAFE, c10::Device(kToy, number), id);
  }
  c10::Stream getStream(c10::Device device) const override {
    return stream(device, current_stream[device.has_index() ? device.index() : current]);
  }
  c10::Stream getDefaultStream(c10::Device device) const override { return stream(device, 0); }
  c10::Stream getStreamFromGlobalPool(c10::Device device, bool) const override { return getNewStream(device, 0); }
  c10::Stream getNewStream(c10::Device device, int) const override { return stream(device, ++last_stream); }
  c10::Stream exchangeStream(c10::Stream next) const override {
    auto before = getStream(next.device());
    current_stream[next.device_index()] = next.id();
    return before;
  }
  bool queryStream(const c10::Stream&) const override { return true; }
  void synchronizeStream(const c10::Stream& stream) const override { check(stream.device_index()); }
  void synchronizeDevice(const c10::DeviceIndex device) const override { check(device); }
  void record(void** event, const c10::Stream& stream, c10::DeviceIndex, c10::EventFlag) const override {
    check(stream.device_index());
    auto now = std::chrono::steady_clock::now().time_since_epoch();
    delete static_cast<double*>(*event);
    *event = new double(std::chrono::duration<double, std::milli>(now).count());
  }
  void block(void*, const c10::Stream&) const override {}
  bool queryEvent(void*) const override { return true; }
  void synchronizeEvent(void*) const override {}
  void destroyEvent(void* event, c10::DeviceIndex) const noexcept override { delete static_cast<double*>(event); }
  double elapsedTime(void* from, void* to, c10::DeviceIndex) const override {
    return *static_cast<double*>(to) - *static_cast<double*>(from);
  }
};

// ---- random numbers ----

struct Generator final : c10::GeneratorImpl {
  explicit Generator(c10::DeviceIndex device, at::Generator inner = at::detail::createCPUGenerator())
      : GeneratorImpl({kToy, device}, c10::DispatchKeySet(c10::DispatchKey::PrivateUse1)), inner(std::move(inner)) {}
  void set_current_seed(uint64_t seed) override { inner.set_current_seed(seed); }
  void set_offset(uint64_t offset) override { inner.set_offset(offset); }
  uint64_t get_offset() const override { return inner.get_offset(); }
  uint64_t current_seed() const override { return inner.current_seed(); }
  uint64_t seed() override { return inner.seed(); }
  void set_state(const c10::TensorImpl& state) override { inner.unsafeGetGeneratorImpl()->set_state(state); }
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override {
    return inner.unsafeGetGeneratorImpl()->get_state();
  }
  Generator* clone_impl() const override { return new Generator(device_.index(), inner.clone()); }
  at::Generator inner;
};

const at::Generator& default_generator(c10::DeviceIndex device) {
  static const at::Generator all[kDevices] = {at::make_generator<Generator>(0), at::make_generator<Generator>(1)};
  return all[device < 0 ? current : device];
}

struct Hooks final : at::PrivateUse1HooksInterface {
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
  void init() const override {}
  c10::DeviceIndex deviceCount() const override { return kDevices; }
  void setCurrentDevice(c10::DeviceIndex device) const override { Guard().setDevice({kToy, device}); }
  c10::DeviceIndex getCurrentDevice() const override { return current; }
  c10::DeviceIndex exchangeDevice(c10::DeviceIndex device) const override { return std::exchange(current, device); }
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex device) const override { return exchangeDevice(device); }
  const at::Generator& getDefaultGenerator(c10::DeviceIndex device) const override { return default_generator(device); }
  at::Generator getNewGenerator(c10::DeviceIndex device) const override {
    return at::make_generator<Generator>(device < 0 ? current : device);
  }
  void resizePrivateUse1Bytes(const c10::Storage& storage, size_t bytes) const override {
    auto before = exchangeDevice(storage.device().index());
    auto data = allocator.allocate(bytes);
    exchangeDevice(before);
    std::memcpy(data.get(), storage.data(), std::min(bytes, storage.nbytes()));
    storage.set_data_ptr_noswap(std::move(data));
    storage.set_nbytes(bytes);
  }
  c10::Allocator* getPinnedMemoryAllocator() const override { return &pinned_allocator; }
  bool isPinnedPtr(const void* data) const override {
    std::lock_guard<std::mutex> held(lock);
    return pinned.count(data) > 0;
  }
};

// ---- operations ----

// Aliases on the CPU of what an operation works on, and the way back of what it gives.
class Call {
 public:
  explicit Call(bool strict) : strict_(strict) {}

  c10::Storage alias(const c10::Storage& storage) {
    for (auto& [ours, cpu] : storages_)
      if (ours.is_alias_of(storage))
        return cpu;
    auto* kept = new c10::Storage(storage);
    c10::DataPtr data(const_cast<void*>(storage.data()), kept,
        [](void* context) { delete static_cast<c10::Storage*>(context); }, c10::kCPU);
    c10::Storage cpu(c10::Storage::use_byte_size_t(), storage.nbytes(), std::move(data), c10::GetCPUAllocator(), true);
    storages_.emplace_back(storage, cpu);
    return cpu;
  }

  at::Tensor alias(const at::Tensor& tensor) {
    if (!tensor.defined() || !tensor.is_privateuseone()) {
      others_ = others_ || (tensor.defined() && tensor.dim() > 0);
      return tensor;
    }
    at_device(tensor.device().index());
    for (auto& [ours, cpu] : tensors_)
      if (ours.is_same(tensor))
        return cpu;
    auto cpu = like(tensor, alias(tensor.storage()), c10::DispatchKey::CPU);
    tensors_.emplace_back(tensor, cpu);
    return cpu;
  }

  void at_device(c10::DeviceIndex device) {
    others_ = others_ || (device_ >= 0 && device_ != device);
    device_ = device;
  }

  void begin(const std::string& name) {
    TORCH_CHECK(!others_ || !strict_, "Expected all tensors to be on the same device, in ", name);
    check(device_ < 0 ? current : device_, 1);
  }

  // Return a tensor or storage of the CPU as one of the device.
  c10::Storage back(const c10::Storage& storage) {
    for (auto& [ours, cpu] : storages_)
      if (cpu.is_alias_of(storage))
        return ours;
    c10::Storage ours(c10::Storage::use_byte_size_t(), storage.nbytes(), own(device_, storage), &allocator, true);
    storages_.emplace_back(ours, storage);
    return ours;
  }

  at::Tensor back(const at::Tensor& tensor) {
    if (!tensor.defined() || device_ < 0)
      return tensor;
    for (auto& [ours, cpu] : tensors_)
      if (cpu.is_same(tensor))
        return ours;
    for (auto& [ours, cpu] : tensors_)
      if (cpu.storage().is_alias_of(tensor.storage())) {  // a view, which is of inference where what it shows is
        auto view = at::detail::make_tensor<c10::TensorImpl>(
            c10::TensorImpl::VIEW, c10::Storage(ours.storage()), ours.key_set(), tensor.dtype());
        view.unsafeGetTensorImpl()->set_sizes_and_strides(tensor.sizes(), tensor.strides(), tensor.storage_offset());
        return view;
      }
    return like(tensor, back(tensor.storage()), c10::DispatchKey::PrivateUse1);
  }

  // Give the tensors the sizes and memory that their aliases have now: an operation may resize its output.
  void end() {
    for (auto& [ours, cpu] : storages_)
      if (cpu.data() != ours.data() && ours.nbytes() != cpu.nbytes()) {
        c10::Storage grown(c10::Storage::use_byte_size_t(), cpu.nbytes(), c10::GetCPUAllocator(), true);
        std::memcpy(grown.mutable_data(), cpu.data(), cpu.nbytes());
        ours.set_data_ptr_noswap(own(device_, grown));
        ours.set_nbytes(grown.nbytes());
      }
    for (size_t number = 0, count = tensors_.size(); number < count; number++) {
      auto [ours, cpu] = tensors_[number];
      auto* impl = ours.unsafeGetTensorImpl();
      auto storage = back(cpu.storage());
      if (!storage.is_alias_of(ours.storage()))
        impl->set_storage_keep_dtype(storage);
      if (ours.sizes() != cpu.sizes() || ours.strides() != cpu.strides() || ours.storage_offset() != cpu.storage_offset())
        impl->set_sizes_and_strides(cpu.sizes(), cpu.strides(), cpu.storage_offset());
    }
  }

 private:
  static at::Tensor like(const at::Tensor& tensor, c10::Storage storage, c10::DispatchKey key) {
    c10::DispatchKeySet keys(key);
    for (auto each : {c10::DispatchKey::Conjugate, c10::DispatchKey::Negative})
      if (tensor.key_set().has(each))
        keys = keys.add(each);
    auto result = at::detail::make_tensor<c10::TensorImpl>(std::move(storage), keys, tensor.dtype());
    result.unsafeGetTensorImpl()->set_sizes_and_strides(tensor.sizes(), tensor.strides(), tensor.storage_offset());
    return result;
  }

  bool strict_, others_ = false;
  c10::DeviceIndex device_ = -1;
  std::vector<std::pair<c10::Storage, c10::Storage>> storages_;
  std::vector<std::pair<at::Tensor, at::Tensor>> tensors_;
};

template <class Change>
void change_tensors(c10::IValue& value, const Change& change) {
  if (value.isTensor()) {
    value = change(value.toTensor());
  } else if (value.isTensorList()) {
    auto list = value.toTensorList();
    c10::List<at::Tensor> changed;
    for (size_t i = 0; i < list.size(); i++)
      changed.push_back(change(list.get(i)));
    value = changed;
  } else if (value.isList() && value.toListRef().size() && (value.toListRef()[0].isTensor() || value.toListRef()[0].isTensorList() ||
      value.toList().elementType()->isSubtypeOf(*c10::OptionalType::ofTensor()))) {
    auto list = value.toList();
    c10::impl::GenericList changed(list.elementType());
    for (c10::IValue each : list) {
      change_tensors(each, change);
      changed.push_back(each);
    }
    value = changed;
  }
}

// Operations that take indices, lengths or hidden copies on the CPU, too, as on a GPU.
bool takes_others(const std::string& name) {
  return name.rfind("aten::index", 0) == 0 || name.rfind("aten::_index_put", 0) == 0 || name.rfind("c10d::", 0) == 0 ||
      name.rfind("aten::set_", 0) == 0 || name.rfind("aten::_pack_padded", 0) == 0 || name.rfind("aten::_amp_", 0) == 0;
}

void on_cpu(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const auto& schema = op.schema();
  const auto& name = schema.name();
  Call call(!takes_others(name));
  at::AutoDispatchBelowADInplaceOrView below;
  size_t begin = stack->size() - schema.arguments().size();
  at::Generator ours;
  for (size_t i = begin; i < stack->size(); i++) {
    auto& value = (*stack)[i];
    if (value.isDevice()) {
      call.at_device(value.toDevice().has_index() ? value.toDevice().index() : current);
      value = c10::Device(c10::kCPU);
    } else if (value.isStorage()) {
      value = call.alias(value.toStorage());
    } else if (value.isGenerator()) {
      ours = value.toGenerator();
      if (ours.device().type() == kToy)
        value = static_cast<Generator*>(ours.unsafeGetGeneratorImpl())->inner;
    } else {
      change_tensors(value, [&](const at::Tensor& x) { return call.alias(x); });
    }
  }
  call.begin(name);
  // Without a generator the device's own is drawn from: it takes the place of the CPU's meanwhile.
  static std::mutex drawing;
  std::unique_lock<std::mutex> held(drawing, std::defer_lock);
  auto usual = at::detail::getDefaultCPUGenerator();
  bool draws = op.hasTag(at::Tag::nondeterministic_seeded) && !ours.defined();
  at::Tensor before;
  if (draws) {
    held.lock();
    before = usual.get_state();
    usual.set_state(default_generator(-1).get_state());
  }
  op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), stack);
  if (draws) {
    auto after = default_generator(-1);
    after.set_state(usual.get_state());
    usual.set_state(before);
  }
  call.end();
  for (size_t i = stack->size() - schema.returns().size(); i < stack->size(); i++)
    change_tensors((*stack)[i], [&](const at::Tensor& x) { return call.back(x); });
}

at::Tensor empty(c10::SymIntArrayRef size, std::optional<at::ScalarType> dtype, std::optional<at::Layout>,
    std::optional<at::Device> device, std::optional<bool>, std::optional<at::MemoryFormat> format) {
  c10::impl::VirtualGuardImpl guard(kToy);
  auto before = device && device->has_index() ? guard.exchangeDevice(*device) : guard.getDevice();
  auto result = at::detail::empty_generic(C10_AS_INTARRAYREF_SLOW(size), &allocator,
      c10::DispatchKeySet(c10::DispatchKey::PrivateUse1), c10::dtype_or_default(dtype), format);
  guard.setDevice(before);
  return result;
}

at::Tensor empty_strided(c10::SymIntArrayRef size, c10::SymIntArrayRef stride, std::optional<at::ScalarType> dtype,
    std::optional<at::Layout>, std::optional<at::Device> device, std::optional<bool>) {
  c10::impl::VirtualGuardImpl guard(kToy);
  auto before = device && device->has_index() ? guard.exchangeDevice(*device) : guard.getDevice();
  auto result = at::detail::empty_strided_generic(C10_AS_INTARRAYREF_SLOW(size), C10_AS_INTARRAYREF_SLOW(stride),
      &allocator, c10::DispatchKeySet(c10::DispatchKey::PrivateUse1), c10::dtype_or_default(dtype));
  guard.setDevice(before);
  return result;
}

at::Tensor copy_from(const at::Tensor& from, const at::Tensor& to, bool) {
  Call call(false);
  auto target = call.alias(to);
  auto source = call.alias(from);
  call.begin("copy_");
  at::AutoDispatchBelowADInplaceOrView below;
  target.copy_(source);
  return to;
}

at::Tensor copy_from_and_resize(const at::Tensor& from, const at::Tensor& to) {
  to.resize_(from.sizes());
  return copy_from(from, to, false);
}

// ---- mixed precision ----

template <bool is_low>
void cast(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  c10::impl::ExcludeDispatchKeyGuard without(c10::DispatchKey::AutocastPrivateUse1);
  auto type = is_low ? at::autocast::get_autocast_dtype(kToy) : at::kFloat;
  for (size_t i = stack->size() - op.schema().arguments().size(); i < stack->size(); i++)
    change_tensors((*stack)[i], [&](const at::Tensor& x) {
      return x.defined() ? at::autocast::cached_cast(type, x, kToy) : x;
    });
  op.callBoxed(stack);
}

const char* const kLow[] = {"_convolution", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d.input",
    "conv_transpose3d.input", "convolution", "addmm", "addmv", "addr", "matmul", "mm", "mv", "bmm", "baddbmm", "linear",
    "einsum", "prelu", "scaled_dot_product_attention", "_thnn_fused_lstm_cell", "_thnn_fused_gru_cell"};
const char* const kFull[] = {"acos", "asin", "cosh", "erfinv", "exp", "expm1", "log", "log10", "log2", "log1p",
    "reciprocal", "rsqrt", "sinh", "tan", "pow.Tensor_Scalar", "pow.Tensor_Tensor", "pow.Scalar", "softplus",
    "layer_norm", "group_norm", "cosine_similarity", "cosine_embedding_loss", "nll_loss", "nll_loss2d", "hinge_embedding_loss",
    "kl_div", "l1_loss", "smooth_l1_loss", "huber_loss", "mse_loss", "margin_ranking_loss", "binary_cross_entropy_with_logits",
    "dist", "pdist", "cdist", "cumprod", "cumsum", "prod", "prod.dim_int", "softmax.int", "log_softmax.int", "sum",
    "sum.dim_IntList", "norm.Scalar", "norm.ScalarOpt_dim"};

} // namespace

TORCH_LIBRARY_IMPL(_, PrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&on_cpu>());
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("empty.memory_format", &empty);
  m.impl("empty_strided", &empty_strided);
  m.impl("_copy_from", &copy_from);
  m.impl("_copy_from_and_resize", &copy_from_and_resize);
  m.impl("record_stream", [](at::Tensor&, c10::Stream) {});
  for (const char* name : {"convolution", "convolution_backward", "native_dropout"})
    m.impl(name, torch::CppFunction::makeFromBoxedFunction<&on_cpu>());
}

TORCH_LIBRARY_IMPL(aten, Conjugate, m) {  // a copy does it, and what is left to do before would copy, and so on
  m.impl("_copy_from", torch::CppFunction::makeFallthrough());
}

TORCH_LIBRARY_IMPL(aten, Negative, m) {
  m.impl("_copy_from", torch::CppFunction::makeFallthrough());
}

TORCH_LIBRARY_IMPL(_, AutocastPrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFallthrough());
}

TORCH_LIBRARY_IMPL(aten, AutocastPrivateUse1, m) {
  for (const char* name : kLow)
    m.impl(name, torch::CppFunction::makeFromBoxedFunction<&cast<true>>());
  for (const char* name : kFull)
    m.impl(name, torch::CppFunction::makeFromBoxedFunction<&cast<false>>());
}

// What the workers exchange goes through the memory of the processor: over whatever joins tensors of the CPU.
TORCH_LIBRARY_IMPL(c10d, AutogradPrivateUse1, m) {
  for (const char* name : {"allreduce_", "broadcast_", "allgather_", "_allgather_base_", "reduce_", "scatter_",
      "_reduce_scatter_base_", "send", "recv_", "allreduce_coalesced_", "allgather_into_tensor_coalesced_",
      "reduce_scatter_tensor_coalesced_"})
    m.impl(name, torch::CppFunction::makeFromBoxedFunction<&on_cpu>());
}

TORCH_LIBRARY(toy, m) {
  m.def("operations(int device) -> int", [](int64_t device) -> int64_t { return operations[device]; });
  m.def("state(int device) -> Tensor", [](int64_t device) { return default_generator(device).get_state(); });
  m.def("set_state(int device, Tensor state) -> ()", [](int64_t device, const at::Tensor& state) {
    auto generator = default_generator(device);
    generator.set_state(state);
  });
  m.def("seed(int device, int seed) -> ()", [](int64_t device, int64_t seed) {
    auto generator = default_generator(device);
    generator.set_current_seed(seed);
  });
}

REGISTER_ALLOCATOR(kToy, &allocator)
C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard)
static const bool registered = [] {
  at::RegisterPrivateUse1HooksInterface(new Hooks());
  return true;
}();
