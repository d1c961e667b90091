// Watches what PyTorch does in a candidate's process, below Python.
//
// Operations: the kernel of every operation for every backend is wrapped in the dispatcher's table, where modes, TorchScript,
// autograd, sparse and MKL-DNN tensors and direct calls of a kernel all end. The observer, a Python callable, is told of each
// outermost one when it has run or failed: name, whether it is pointwise, input tensors, tensors it wrote to, results, whether a number
// was among its arguments, and what was touched since.
//
// Memory: tensors on the host lie in pages that nothing in this process can read or write except an operation while it runs; kernels
// run in another process, which maps the same memory. Whatever else touches them (numpy, DLPack, buffers, serialisation, ctypes, Tensor.apply_) faults; the fault is noted with
// its address, and the page opened until the next operation ends. The kernel lets nobody else open it. Python's lock is held meanwhile: no other Python code can run.
//
// Python code that gets to run all the same (in a finalizer, in an operation that it has replaced, while the observer is told) is
// watched as anywhere else. What the observer does with PyTorch is told apart by the code object that called.

#include <Python.h>

#include <ATen/Parallel.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/CPUAllocator.h>
#include <torch/csrc/autograd/python_variable.h>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "driver.h"

namespace {

constexpr uintptr_t kPage = 4096;

// ---------------------------------------------------------------- memory

// Ends move: that of tensors' memory grows, and memory that is guarded no more is empty.
struct Range {
  std::atomic<uintptr_t> begin{0}, end{0};
  bool holds(uintptr_t address) const { return address >= begin && address < end; }
};

// All guarded memory lies in one reserved region, whose protection only calls that carry a secret may change: see deny_opening.
constexpr size_t kRegion = size_t(1) << 40, kTensors = kRegion / 2, kArena = kRegion / 32;
uintptr_t region = 0;
uint64_t secret = 0;

int protect(uintptr_t begin, uintptr_t end, int protection) {
  return static_cast<int>(syscall(SYS_mprotect, begin, end - begin, protection, secret));
}

constexpr int kMostRanges = 16;
Range ranges[kMostRanges];  // the first is tensors' memory

bool covered(uintptr_t address) {
  for (const Range& each : ranges) {
    if (each.holds(address)) return true;
  }
  return false;
}

struct Touch {
  uintptr_t address;
  bool written;
};

constexpr int kMostTouches = 1 << 14;
Touch touches[kMostTouches];
std::atomic<int> touch_count{0};

std::atomic<bool> guarded{false};
thread_local bool unwatched = false;  // what runs is the observer's
bool reserved = false;
std::mutex door;
int openers = 0;
struct sigaction before;

void set_protection(int protection) {
  for (Range& each : ranges) {
    if (each.end > each.begin) protect(each.begin, each.end, protection);
  }
}

void open_memory() {
  std::lock_guard<std::mutex> lock(door);
  if (openers++ == 0 && guarded) set_protection(PROT_READ | PROT_WRITE);
}

void close_memory() {
  std::lock_guard<std::mutex> lock(door);
  if (--openers == 0 && guarded) set_protection(PROT_NONE);
}

struct Opened {
  Opened() { open_memory(); }
  ~Opened() { close_memory(); }
};

void guard(bool on) {
  std::lock_guard<std::mutex> lock(door);
  guarded = on;
  set_protection(on && openers == 0 ? PROT_NONE : PROT_READ | PROT_WRITE);
}

// Where memory was touched. While LLVM compiles in another thread, its handler comes first, puts this one back and raises the signal
// again, without an address: the processor's registers keep it.
uintptr_t faulted_at(const siginfo_t* info, const greg_t* registers) {
  constexpr greg_t kPageFault = 14;
  bool raised = info->si_code <= 0;
  if (!raised) return reinterpret_cast<uintptr_t>(info->si_addr);
  return registers[REG_TRAPNO] == kPageFault ? static_cast<uintptr_t>(registers[REG_CR2]) : 0;
}

// Runs on the stack of the code that touched memory: no locks, no allocation.
void on_fault(int signal, siginfo_t* info, void* context) {
  const greg_t* registers = reinterpret_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  uintptr_t address = faulted_at(info, registers);
  for (const Range& each : ranges) {
    if (!each.holds(address)) continue;
    int at = touch_count.fetch_add(1);
    bool written = registers[REG_ERR] & 2;
    if (at < kMostTouches) touches[at] = {address, written};
    address &= ~(kPage - 1);
    if (protect(address, address + kPage, PROT_READ | PROT_WRITE) == 0) return;
    break;
  }
  sigaction(SIGSEGV, &before, nullptr);  // not ours: happens again, and ends as it would have
}

// A region of addresses without memory, aligned to its size. What is before it is reserved as well.
bool reserve_region() {
  void* at = mmap(nullptr, 3 * kRegion, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return false;
  uintptr_t begin = reinterpret_cast<uintptr_t>(at);
  region = (begin + kRegion) / kRegion * kRegion;
  munmap(reinterpret_cast<void*>(region + kRegion), begin + 2 * kRegion - region);
  madvise(reinterpret_cast<void*>(region), kRegion, MADV_DONTFORK);
  return true;
}

// Puts the memory of a descriptor, unless that is negative, where tensors will be.
bool share_region(int descriptor) {
  void* at = reinterpret_cast<void*>(region);
  if (descriptor < 0) return true;
  if (mmap(at, kTensors, PROT_NONE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, descriptor, 0) == MAP_FAILED) return false;
  madvise(at, kTensors, MADV_DONTFORK);
  return true;
}

// Has the kernel refuse whatever would open the region by a system call, where there are filters for these.
void deny_opening() {
  if (getrandom(&secret, sizeof secret, 0) != sizeof secret) return;
  constexpr uint32_t kArgument0 = 16, kHigh = 4, kPkeyMprotect = 329;
  const uint32_t here = static_cast<uint32_t>(region >> 32);
  auto load = [](uint32_t offset) { return sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset); };
  auto equal = [](uint32_t value, uint8_t yes, uint8_t no) { return sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, yes, no); };
  auto answer = [](uint32_t value) { return sock_filter BPF_STMT(BPF_RET | BPF_K, value); };
  sock_filter lines[] = {
      load(0),
      equal(SYS_prctl, 0, 2), load(kArgument0), equal(PR_SET_DUMPABLE, 15, 16),
      equal(SYS_mprotect, 3, 0), equal(SYS_mremap, 2, 0), equal(kPkeyMprotect, 1, 0), answer(SECCOMP_RET_ALLOW),
      load(kArgument0 + 24), equal(static_cast<uint32_t>(secret), 0, 3),
      load(kArgument0 + 24 + kHigh), equal(static_cast<uint32_t>(secret >> 32), 0, 1), answer(SECCOMP_RET_ALLOW),
      load(kArgument0 + 8 + kHigh), equal(0, 0, 4),  // 4 GiB at once might reach into the region from before it
      load(kArgument0 + kHigh), equal(here - 1, 2, 0),
      sock_filter BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xFFFFFF00u), equal(here, 0, 1),
      answer(SECCOMP_RET_ERRNO | EPERM), answer(SECCOMP_RET_ALLOW),
  };
  sock_fprog program = {sizeof lines / sizeof *lines, lines};
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);  // /proc/self/mem opens to nobody then, even what is closed to all
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

// What new memory of tensors is filled with.
std::atomic<int> filler{0xFF};

// Tensors' memory on the host: whole pages of the region, so that a fault names its tensor.
class Pages final : public c10::Allocator {
 public:
  void begin(size_t limit) {
    next_ = region;
    end_ = region + kTensors;  // behind it are arenas
    limit_ = limit;
    ranges[0].begin = ranges[0].end = next_;
  }

  c10::DataPtr allocate(size_t bytes) override {
    if (unwatched) return c10::GetDefaultCPUAllocator()->allocate(bytes);
    if (bytes == 0) return {nullptr, nullptr, &release, c10::Device(c10::DeviceType::CPU)};
    void* data = take(bytes);
    TORCH_CHECK(data, "DefaultCPUAllocator: can't allocate memory: you tried to allocate ", bytes, " bytes.");
    // What a kernel leaves out must not be what happened to lie there, which could be right.
    Opened opened;
    memset(data, filler, bytes);
    return {data, data, &release, c10::Device(c10::DeviceType::CPU)};
  }

  c10::DeleterFnPtr raw_deleter() const override { return &release; }

  void copy_data(void* to, const void* from, std::size_t count) const override { default_copy_data(to, from, count); }

  // What has been freed may be used again: where it was touched has been told.
  void told() {
    std::lock_guard<std::mutex> lock(mutex_);
    reuse();
  }

  // Where tensors lie, and how many bytes they have.
  std::vector<std::pair<uintptr_t, size_t>> blocks() {
    std::lock_guard<std::mutex> lock(mutex_);
    return {wanted_.begin(), wanted_.end()};
  }

 private:
  // Whole pages.
  static size_t block(size_t bytes) { return (bytes + kPage - 1) & ~(kPage - 1); }

  void* take(size_t wanted) {
    std::lock_guard<std::mutex> lock(mutex_);
    size_t bytes = block(wanted);
    if (live_ + bytes > limit_) return nullptr;
    uintptr_t at;
    if (held_ + bytes > limit_) reuse();
    std::vector<uintptr_t>& free = free_[bytes];
    if (!free.empty()) {
      at = free.back();
      free.pop_back();
    } else {
      at = next_;
      if (end_ - next_ < bytes || !grow(at + bytes)) return nullptr;
      next_ += bytes;
    }
    live_ += bytes;
    wanted_[at] = wanted;
    return reinterpret_cast<void*>(at);
  }

  // Makes memory up to an address usable; counted, like all memory that can be written, against the process's limit.
  static bool grow(uintptr_t wanted) {
    constexpr uintptr_t kStep = 1 << 20;
    std::lock_guard<std::mutex> lock(door);
    uintptr_t end = ranges[0].end, grown = (wanted + kStep - 1) & ~(kStep - 1);
    if (wanted <= end) return true;
    if (protect(end, grown, guarded && openers == 0 ? PROT_NONE : PROT_READ | PROT_WRITE) != 0) return false;
    ranges[0].end = grown;
    return true;
  }

  static void release(void* data);

  void give_back(uintptr_t at) {
    std::lock_guard<std::mutex> lock(mutex_);
    auto found = wanted_.find(at);
    if (found == wanted_.end()) return;
    size_t bytes = block(found->second);
    wanted_.erase(found);
    live_ -= bytes;
    held_ += bytes;
    freed_.emplace_back(at, bytes);
  }

  void reuse() {
    for (auto [at, bytes] : freed_) {
      if (bytes >= (size_t(1) << 20)) return_to_system(at, bytes);
      free_[bytes].push_back(at);
    }
    freed_.clear();
    held_ = 0;
  }

  // Memory that is shared goes only where it is removed, which takes a writable mapping.
  static void return_to_system(uintptr_t at, size_t bytes) {
    Opened opened;
    void* pages = reinterpret_cast<void*>(at);
    if (madvise(pages, bytes, MADV_REMOVE) != 0) madvise(pages, bytes, MADV_DONTNEED);
  }

  std::mutex mutex_;
  uintptr_t next_ = 0, end_ = 0;
  size_t limit_ = 0, live_ = 0, held_ = 0;
  std::vector<std::pair<uintptr_t, size_t>> freed_;
  std::map<size_t, std::vector<uintptr_t>> free_;
  std::unordered_map<uintptr_t, size_t> wanted_;
};

Pages& pages() {
  static Pages* made = new Pages();
  return *made;
}

void Pages::release(void* data) {
  if (data) pages().give_back(reinterpret_cast<uintptr_t>(data));
}

// ---------------------------------------------------------------- operations

PyObject* observer = nullptr;
PyObject* account = nullptr;
std::atomic<bool> watching{false};
std::atomic<long> told{0};
thread_local int inside = 0;      // operations
thread_local int accounting = 0;  // calls of the account
thread_local PyFrameObject* outside = nullptr;  // the frame that called the operation
std::string replaced;             // what the candidate has put code of its own in the place of

// While this lives, functions that the candidate has given to sys.settrace and sys.setprofile are not called in this thread.
struct Untraced {
#if PY_VERSION_HEX >= 0x030B0000
  PyThreadState* thread = PyThreadState_Get();
  Untraced() { PyThreadState_EnterTracing(thread); }
  ~Untraced() { PyThreadState_LeaveTracing(thread); }
#endif
};

// Something of kbx's that must be what it was: an attribute of a module or class, and a function's code.
struct Part {
  PyObject *owner, *name, *value, *code;
};
std::vector<Part>& parts() {
  static auto* made = new std::vector<Part>();
  return *made;
}

PyObject* code_of(PyObject* value) { return PyFunction_Check(value) ? PyFunction_GET_CODE(value) : nullptr; }

// Notes parts that are others now. Needs Python's lock.
void look_at_parts() {
  if (!replaced.empty()) return;
  for (const Part& each : parts()) {
    PyObject* now = PyType_Check(each.owner) ? _PyType_Lookup(reinterpret_cast<PyTypeObject*>(each.owner), each.name)
                                             : PyDict_GetItem(PyModule_GetDict(each.owner), each.name);
    if (now == each.value && code_of(now) == each.code) continue;
    const char* name = PyUnicode_AsUTF8(each.name);
    replaced = name ? name : "?";
    return;
  }
}

std::unordered_set<void*>& trusted_code() {
  static auto* made = new std::unordered_set<void*>();
  return *made;
}

// Whether the Python function that called is one of kbx's own. Needs Python's lock.
bool asked_by_trusted_code() {
  PyFrameObject* frame = PyEval_GetFrame();
  if (!frame) return false;
  PyCodeObject* code = PyFrame_GetCode(frame);
  bool found = trusted_code().count(code);
  Py_DECREF(code);
  return found;
}

void collect(const c10::IValue& value, std::vector<at::Tensor>& into) {
  if (value.isTensor()) {
    const at::Tensor& tensor = value.toTensor();  // a wrapped number is one of Python's
    if (tensor.defined() && !tensor.unsafeGetTensorImpl()->is_wrapped_number()) into.push_back(tensor);
  } else if (value.isTensorList()) {
    for (const at::Tensor& each : value.toTensorVector()) {
      if (each.defined()) into.push_back(each);
    }
  } else if (value.isList()) {
    for (const c10::IValue& each : value.toListRef()) collect(each, into);
  }
}

PyObject* as_list(const std::vector<at::Tensor>& tensors) {
  PyObject* list = PyList_New(tensors.size());
  for (size_t i = 0; list && i < tensors.size(); i++) PyList_SET_ITEM(list, i, THPVariable_Wrap(tensors[i]));
  return list;
}

PyObject* take_touches() {
  int count = touch_count.exchange(0);
  if (count > kMostTouches) count = kMostTouches;
  pages().told();
  PyObject* list = PyList_New(count);
  for (int i = 0; list && i < count; i++) {
    PyList_SET_ITEM(list, i, Py_BuildValue("(KO)", (unsigned long long)touches[i].address, touches[i].written ? Py_True : Py_False));
  }
  return list;
}

bool lacks_storage(const std::vector<at::Tensor>& tensors) {
  for (const at::Tensor& each : tensors) {
    if (!each.unsafeGetTensorImpl()->has_storage()) return true;
  }
  return false;
}

class Wrapped final : public c10::OperatorKernel {
 public:
  Wrapped(const c10::OperatorHandle& op, c10::SafeKernelFunction kernel)
      : kernel_(std::move(kernel)), name_(toString(op.operator_name())), pointwise_(op.hasTag(at::Tag::pointwise)) {
    const auto& arguments = op.schema().arguments();
    for (size_t i = 0; i < arguments.size(); i++) {
      if (arguments[i].alias_info() && arguments[i].alias_info()->isWrite()) written_.push_back(i);
    }
    view_ = written_.empty() && !op.schema().returns().empty();
    for (const auto& each : op.schema().returns()) view_ = view_ && each.alias_info();
    all().push_back(this);
  }

  static std::vector<Wrapped*>& all() {
    static auto* made = new std::vector<Wrapped*>();
    return *made;
  }

  // Whether an operation runs that called this one, and not Python code that runs within it, which most often gives Python's lock
  // back before it calls one.
  static bool is_part() { return inside && PyGILState_Check() && PyEval_GetFrame() == outside; }

  const std::string& name() const { return name_; }

  // Whether it ran since last asked, be it as a part of another operation, but for kbx's own use of it while it watches; views never.
  bool take_ran() { return !view_ && ran_.load(std::memory_order_relaxed) && ran_.exchange(false); }

  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack) {
    if (!watching || is_part() || at::in_parallel_region()) {
      ran_.store(true, std::memory_order_relaxed);
      kernel_.callBoxed(op, keys, stack);
      return;
    }
    if (accounting && is_trusted()) {
      Entered entered(true);
      kernel_.callBoxed(op, keys, stack);
      return;
    }
    ran_.store(true, std::memory_order_relaxed);
    std::vector<at::Tensor> inputs, written;
    bool number = gather(op, *stack, inputs, written);
    bool telling = !view_ || lacks_storage(inputs);
    try {
      Entered entered(false);
      kernel_.callBoxed(op, keys, stack);
    } catch (...) {
      // One on a list has computed for the tensors before the one that it refuses.
      if (telling) tell(inputs, written, {}, number);
      throw;
    }
    std::vector<at::Tensor> results;
    for (size_t i = stack->size() - op.schema().returns().size(); i < stack->size(); i++) collect((*stack)[i], results);
    if (telling) tell(inputs, written, results, number);
  }

 private:
  struct Lock {
    PyGILState_STATE state = PyGILState_Ensure();
    ~Lock() { PyGILState_Release(state); }
  };

  // Memory is open, and nested operations are parts of this one. Modes of Python get none of them.
  struct Entered {
    Lock lock;
    Opened opened;
    c10::impl::ExcludeDispatchKeyGuard modes{c10::DispatchKeySet({c10::DispatchKey::Python, c10::DispatchKey::PythonTLSSnapshot})};
    bool before;
    PyFrameObject* caller = outside;
    explicit Entered(bool trusted) : before(unwatched) {
      inside++;
      unwatched = trusted;
      outside = PyEval_GetFrame();
    }
    ~Entered() {
      inside--;
      unwatched = before;
      outside = caller;
    }
  };

  static bool is_trusted() {
    Lock lock;
    return asked_by_trusted_code();
  }

  bool gather(const c10::OperatorHandle& op, const torch::jit::Stack& stack, std::vector<at::Tensor>& inputs,
              std::vector<at::Tensor>& written) const {
    const auto& arguments = op.schema().arguments();
    size_t count = arguments.size(), first = stack.size() - count;
    bool number = false;
    for (size_t i = 0; i < count; i++) {
      const c10::IValue& value = stack[first + i];
      collect(value, inputs);
      number = number || value.isDouble() || (value.isInt() && arguments[i].type()->kind() == c10::TypeKind::NumberType);
    }
    for (size_t i : written_) collect(stack[first + i], written);
    return number;
  }

  void tell(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>& written, const std::vector<at::Tensor>& results,
            bool number) const {
    Lock lock;
    look_at_parts();
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    told++;
    Untraced untraced;
    accounting++;
    PyObject* answer = PyObject_CallFunction(observer, "sONNNON", name_.c_str(), pointwise_ ? Py_True : Py_False, as_list(inputs),
                                             as_list(written), as_list(results), number ? Py_True : Py_False, take_touches());
    accounting--;
    Py_XDECREF(answer);
    PyErr_Clear();
    PyErr_Restore(type, value, trace);
  }

  c10::SafeKernelFunction kernel_;
  std::string name_;
  bool pointwise_, view_;
  std::atomic<bool> ran_{false};
  std::vector<size_t> written_;
};

constexpr c10::DispatchKey kBackends[] = {
    c10::DispatchKey::CPU,          c10::DispatchKey::CUDA,          c10::DispatchKey::SparseCPU,       c10::DispatchKey::SparseCUDA,
    c10::DispatchKey::SparseCsrCPU, c10::DispatchKey::SparseCsrCUDA, c10::DispatchKey::QuantizedCPU,    c10::DispatchKey::QuantizedCUDA,
    c10::DispatchKey::MkldnnCPU,    c10::DispatchKey::NestedTensorCPU, c10::DispatchKey::NestedTensorCUDA,
};

// Operations that decompose into others have none of their own: their parts are wrapped.
bool has_kernel(const c10::OperatorHandle& op, c10::DispatchKey key) {
  if (op.hasKernelForDispatchKey(key)) return true;
  bool dense = key == c10::DispatchKey::CPU || key == c10::DispatchKey::CUDA;
  return dense && (op.hasKernelForDispatchKey(c10::DispatchKey::CompositeExplicitAutograd) ||
                   op.hasKernelForDispatchKey(c10::DispatchKey::CompositeExplicitAutogradNonFunctional));
}

// ---------------------------------------------------------------- Python

PyObject* ran(PyObject*, PyObject*) {
  PyObject* names = PyList_New(0);
  if (!names) return nullptr;
  for (Wrapped* each : Wrapped::all()) {
    if (!each->take_ran()) continue;
    PyObject* name = PyUnicode_FromString(each->name().c_str());
    if (!name || PyList_Append(names, name) != 0) PyErr_Clear();
    Py_XDECREF(name);
  }
  return names;
}

PyObject* install(PyObject*, PyObject*) {
  static bool installed = false;
  long count = 0;
  if (!installed) {
    installed = true;
    auto& dispatcher = c10::Dispatcher::singleton();
    for (c10::DispatchKey key : kBackends) {
      for (const c10::OperatorName& name : dispatcher.getAllOpNames()) {
        auto op = dispatcher.findSchema(name);
        if (!op || !has_kernel(*op, key)) continue;
        auto wrapped = std::make_unique<Wrapped>(*op, op->getComputedKernelForDispatchKey(key));
        auto kernel = c10::KernelFunction::makeFromBoxedFunctor(std::move(wrapped));
        // Never undone, so the handle is never destroyed.
        new c10::RegistrationHandleRAII(
            dispatcher.registerImpl(name, key, std::move(kernel), std::nullopt, nullptr, "kbx"));
        count++;
      }
    }
  }
  return PyLong_FromLong(count);
}

// What changes what is watched, or reads what is guarded, is for kbx's own code once that is named.
bool refused() {
  if (trusted_code().empty() || asked_by_trusted_code()) return false;
  PyErr_SetString(PyExc_RuntimeError, "for kbx's own code");
  return true;
}

PyObject* reserve(PyObject*, PyObject* arguments) {
  if (refused()) return nullptr;
  unsigned long long bytes;
  int descriptor;
  if (!PyArg_ParseTuple(arguments, "Ki", &bytes, &descriptor)) return nullptr;
  if (!reserved && reserve_region() && share_region(descriptor)) {
    reserved = true;
    pages().begin(bytes);
    deny_opening();
    struct sigaction action = {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
    sigaction(SIGSEGV, &action, &before);
    c10::SetCPUAllocator(&pages(), 255);
  }
  if (!reserved) Py_RETURN_NONE;
  return Py_BuildValue("(KK)", (unsigned long long)region, (unsigned long long)kTensors);
}

PyObject* fill(PyObject*, PyObject* byte) {
  if (refused()) return nullptr;
  long value = PyLong_AsLong(byte);
  if (value == -1 && PyErr_Occurred()) return nullptr;
  filler = static_cast<int>(value);
  Py_RETURN_NONE;
}

PyObject* map(PyObject*, PyObject* arguments) {
  if (refused()) return nullptr;
  int number, descriptor;
  unsigned long long bytes;
  if (!PyArg_ParseTuple(arguments, "iiK", &number, &descriptor, &bytes)) return nullptr;
  uintptr_t at = region + kTensors + number * kArena;
  if (!reserved || number < 1 || number >= kMostRanges || bytes > kArena) {
    PyErr_SetString(PyExc_ValueError, "nothing is reserved, no such range, or too many bytes");
    return nullptr;
  }
  void* wanted = reinterpret_cast<void*>(at);
  if (mmap(wanted, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, descriptor, 0) == MAP_FAILED) return PyErr_SetFromErrno(PyExc_OSError);
  madvise(wanted, bytes, MADV_DONTFORK);
  ranges[number].begin = at;
  ranges[number].end = at + ((bytes + kPage - 1) & ~(kPage - 1));
  return PyLong_FromUnsignedLongLong(at);
}

PyObject* seal(PyObject*, PyObject* arguments) {
  PyObject *accounts, *codes, *fixed;
  if (!PyArg_ParseTuple(arguments, "OO!O!", &accounts, &PyTuple_Type, &codes, &PyTuple_Type, &fixed)) return nullptr;
  if (account) {
    PyErr_SetString(PyExc_RuntimeError, "sealed already");
    return nullptr;
  }
  Py_INCREF(accounts);
  Py_INCREF(codes);
  Py_INCREF(fixed);
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(fixed); i++) {
    Part part;
    if (!PyArg_ParseTuple(PyTuple_GET_ITEM(fixed, i), "OOO", &part.owner, &part.name, &part.value)) return nullptr;
    if (!PyType_Check(part.owner) && !PyModule_Check(part.owner)) continue;
    part.code = code_of(part.value);
    parts().push_back(part);
  }
  account = accounts;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(codes); i++) trusted_code().insert(PyTuple_GET_ITEM(codes, i));
  Py_RETURN_NONE;
}

PyObject* note(PyObject*, PyObject* arguments) {
  if (!account) {
    PyErr_SetString(PyExc_RuntimeError, "nothing is sealed");
    return nullptr;
  }
  if (refused()) return nullptr;
  look_at_parts();
  Untraced untraced;
  accounting++;
  PyObject* result = PyObject_Call(account, arguments, nullptr);
  accounting--;
  return result;
}

PyObject* blocks(PyObject*, PyObject*) {
  if (refused()) return nullptr;
  auto found = pages().blocks();
  PyObject* list = PyList_New(found.size());
  for (size_t i = 0; list && i < found.size(); i++) {
    PyList_SET_ITEM(list, i, Py_BuildValue("(KK)", (unsigned long long)found[i].first, (unsigned long long)found[i].second));
  }
  return list;
}

PyObject* numbers(PyObject*, PyObject* arguments) {
  if (refused()) return nullptr;
  unsigned long long address;
  Py_ssize_t count;
  if (!PyArg_ParseTuple(arguments, "Kn", &address, &count)) return nullptr;
  Opened opened;
  PyObject* list = PyList_New(count);
  for (Py_ssize_t i = 0; list && i < count; i++) {
    PyList_SET_ITEM(list, i, PyLong_FromLongLong(reinterpret_cast<const int64_t*>(address)[i]));
  }
  return list;
}

// ---------------------------------------------------------------- kernels that the candidate registers

PyObject* register_kernel = nullptr;
PyObject* register_fallback = nullptr;

// What is registered for PyTorch's operations of a name, ``cos`` or ``aten::cos.out``.
std::string registered(std::string name) {
  std::string all;
  name = name.substr(name.find("::") == std::string::npos ? 0 : name.find("::") + 2);
  size_t dot = name.find('.');
  std::string base = name.substr(0, dot), overload = dot == std::string::npos ? "" : name.substr(dot + 1);
  for (const char* space : {"aten::", "prims::", "prim::", "quantized::", "quantized_decomposed::", "_prepacked::", "mkldnn::"}) {
    if (auto op = c10::Dispatcher::singleton().findSchema({space + base, overload})) all += op->dumpState();
  }
  return all;
}

std::string pytorch;  // its folder

bool begins(PyObject* text, const std::string& with) {
  const char* bytes = text ? PyUnicode_AsUTF8(text) : nullptr;
  return bytes && std::strncmp(bytes, with.c_str(), with.size()) == 0;
}

// Whether a module of PyTorch is being imported, which does it.
bool asked_by_an_import_of_pytorch() {
  PyFrameObject* frame = PyEval_GetFrame();
  Py_XINCREF(frame);
  bool found = false, within = true;
  while (frame && within && !found) {
    PyCodeObject* code = PyFrame_GetCode(frame);
    PyObject* file = PyObject_GetAttrString(reinterpret_cast<PyObject*>(code), "co_filename");
    PyObject* name = PyObject_GetAttrString(reinterpret_cast<PyObject*>(code), "co_name");
    within = begins(file, pytorch) || begins(file, "<frozen importlib");
    found = within && begins(name, "<module>");
    Py_XDECREF(file);
    Py_XDECREF(name);
    Py_DECREF(code);
    PyFrameObject* back = PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = back;
  }
  Py_XDECREF(frame);
  PyErr_Clear();
  return found;
}

std::string text_at(PyObject* arguments, Py_ssize_t index) {
  PyObject* found = PyTuple_Size(arguments) > index ? PyTuple_GET_ITEM(arguments, index) : nullptr;
  return found && PyUnicode_Check(found) ? PyUnicode_AsUTF8(found) : "";
}

// Whether kernels for a key never run within an operation: vmap takes them from PyTorch when it is first used.
bool is_harmless(const std::string& key) { return key == "Meta" || key == "FuncTorchBatched"; }

PyObject* kernel_registered(PyObject*, PyObject* arguments, PyObject* named) {
  std::string text = is_harmless(text_at(arguments, 2)) ? "" : text_at(arguments, 1), before = registered(text);
  PyObject* result = PyObject_Call(register_kernel, arguments, named);
  if (before != registered(text) && !asked_by_an_import_of_pytorch()) replaced = text;
  return result;
}

PyObject* fallback_registered(PyObject*, PyObject* arguments, PyObject* named) {
  if (!asked_by_an_import_of_pytorch()) replaced = "a fallback";
  return PyObject_Call(register_fallback, arguments, named);
}

PyObject* instead_of(PyObject* type, const char* name, PyMethodDef* method) {
  PyObject* original = PyObject_GetAttrString(type, name);
  PyObject* function = PyCFunction_New(method, nullptr);
  PyObject* bound = function ? PyInstanceMethod_New(function) : nullptr;
  if (original && bound) PyObject_SetAttrString(type, name, bound);
  Py_XDECREF(function);
  Py_XDECREF(bound);
  return original;
}

PyObject* watch_registration(PyObject*, PyObject* arguments) {
  PyObject* type;
  const char* folder;
  if (!PyArg_ParseTuple(arguments, "Os", &type, &folder)) return nullptr;
  pytorch = folder;
  static PyMethodDef kernel = {"impl", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(kernel_registered)),
                               METH_VARARGS | METH_KEYWORDS, nullptr};
  static PyMethodDef fallback = {"fallback", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(fallback_registered)),
                                 METH_VARARGS | METH_KEYWORDS, nullptr};
  if (!register_kernel) {
    register_kernel = instead_of(type, "impl", &kernel);
    register_fallback = instead_of(type, "fallback", &fallback);
  }
  if (PyErr_Occurred()) return nullptr;
  Py_RETURN_NONE;
}

// ---------------------------------------------------------------- watching

PyObject* watch(PyObject*, PyObject* given) {
  if (refused()) return nullptr;
  bool on = given != Py_None;
  if (on) {
    Py_INCREF(given);
    PyObject* last = observer;
    observer = given;
    Py_XDECREF(last);
    touch_count = 0;
  }
  watching = on;
  guard(on);
  Py_RETURN_NONE;
}

PyObject* touched(PyObject*, PyObject*) { return refused() ? nullptr : take_touches(); }

// ---------------------------------------------------------------- the GPU's driver

PyObject* watch_driver(PyObject*, PyObject* on) {
  if (refused()) return nullptr;
  std::string lack = driver::watch(PyObject_IsTrue(on), &Wrapped::is_part);
  if (lack.empty()) Py_RETURN_NONE;
  PyErr_SetString(PyExc_RuntimeError, lack.c_str());
  return nullptr;
}

PyObject* expect_launch(PyObject*, PyObject* function) {
  if (refused()) return nullptr;
  unsigned long long handle = PyLong_AsUnsignedLongLong(function);
  if (PyErr_Occurred()) return nullptr;
  driver::expect(handle);
  Py_RETURN_NONE;
}

PyObject* as_numbers(const std::set<uint64_t>& values) {
  PyObject* list = PyList_New(values.size());
  Py_ssize_t at = 0;
  for (uint64_t value : values) {
    if (list) PyList_SET_ITEM(list, at++, PyLong_FromUnsignedLongLong(value));
  }
  return list;
}

PyObject* driver_calls(PyObject*, PyObject*) {
  if (refused()) return nullptr;
  constexpr const char* kKinds[] = {"launch", "to host", "from host", "copy"};
  std::optional<std::vector<driver::Call>> calls = driver::take();
  if (!calls) Py_RETURN_NONE;
  PyObject* list = PyList_New(calls->size());
  for (size_t i = 0; list && i < calls->size(); i++) {
    const driver::Call& each = (*calls)[i];
    PyList_SET_ITEM(list, i, Py_BuildValue("(sssN)", kKinds[static_cast<int>(each.kind)], each.name.c_str(), each.library.c_str(), as_numbers(each.addresses)));
  }
  return list;
}

PyObject* driver_count(PyObject*, PyObject*) { return PyLong_FromLong(driver::seen()); }

PyObject* driver_version(PyObject*, PyObject*) { return PyLong_FromUnsignedLong(driver::version()); }

PyObject* count(PyObject*, PyObject*) { return PyLong_FromLong(told); }

PyObject* covers(PyObject*, PyObject* given) {
  unsigned long long address = PyLong_AsUnsignedLongLong(given);
  if (PyErr_Occurred()) return nullptr;
  return PyBool_FromLong(covered(address));
}

PyObject* altered(PyObject*, PyObject*) {
  if (replaced.empty()) Py_RETURN_NONE;
  return PyUnicode_FromString(replaced.c_str());
}

PyObject* intact(PyObject*, PyObject*) {
  look_at_parts();
  if (!replaced.empty()) Py_RETURN_FALSE;
  if (!reserved) return PyBool_FromLong(watching);
  struct sigaction now;
  sigaction(SIGSEGV, nullptr, &now);
  return PyBool_FromLong(watching && guarded && now.sa_sigaction == on_fault && c10::GetCPUAllocator() == &pages());
}

PyMethodDef methods[] = {
    {"install", install, METH_NOARGS, "Wraps the kernels of all operations; how many. Once a process, or in the one it is forked from."},
    {"reserve", reserve, METH_VARARGS,
     "Has tensors on the host allocated in guarded pages, at most so many bytes, of the memory that a descriptor has, or of the process's "
     "own for -1; where these begin and how many bytes of addresses there are, None if it did not work."},
    {"fill", fill, METH_O, "Fills tensors' memory with this byte from now on, as it is allocated; at first with 255."},
    {"map", map, METH_VARARGS, "Maps so many bytes of a descriptor as range 1 to 15 of guarded memory; the address."},
    {"seal", seal, METH_VARARGS,
     "Names, once, the function that note calls, the code objects that may call these functions and whose operations are not told, and "
     "what must stay as it is: (owner, name, value) of modules and classes."},
    {"blocks", blocks, METH_NOARGS, "Where tensors' memory lies: (address, bytes)."},
    {"note", note, METH_VARARGS, "Calls the sealed account; its operations are not told."},
    {"numbers", numbers, METH_VARARGS, "So many 64-bit numbers at an address."},
    {"watch_registration", watch_registration, METH_VARARGS,
     "Sees, from now on, kernels registered by this type, torch._C._DispatchModule, in place of PyTorch's own, except by modules in a "
     "folder while they are imported: nothing is intact then."},
    {"covers", covers, METH_O, "Whether an address lies in guarded memory."},
    {"intact", intact, METH_NOARGS, "Whether operations are told of, and memory is guarded, as asked for."},
    {"altered", altered, METH_NOARGS, "What the candidate has put code of its own in the place of, the last of it; None for nothing."},
    {"watch", watch, METH_O, "Tells an observer of every operation and guards memory, until called with None."},
    {"touched", touched, METH_NOARGS, "What was touched outside of operations since last asked: (address, written), one a page."},
    {"ran", ran, METH_NOARGS, "The names of operations that ran since last asked, watched or not."},
    {"count", count, METH_NOARGS, "How often an observer was told."},
    {"watch_driver", watch_driver, METH_O, "Whether what is asked of the GPU's driver outside of operations is noted from now on."},
    {"expect_launch", expect_launch, METH_O, "Launches of this CUfunction by this thread are accounted for; 0 ends that."},
    {"driver_calls", driver_calls, METH_NOARGS,
     "What was noted since last asked: (launch, to host, from host or copy; name; library; what may be addresses). None: too much."},
    {"driver_count", driver_count, METH_NOARGS, "How many launches and copies the driver was asked for, noted or not."},
    {"driver_version", driver_version, METH_NOARGS, "CUPTI's version; 0 where PyTorch has none."},
    {}};

PyModuleDef definition = {PyModuleDef_HEAD_INIT, "watch", "See the source.", -1, methods};

}  // namespace

PyMODINIT_FUNC PyInit_watch() { return PyModule_Create(&definition); }
