// Watches what PyTorch does in a candidate's process, below Python.
//
// Operations: the kernel of every operation for every backend is wrapped in the dispatcher's table, where modes, TorchScript,
// autograd, sparse and MKL-DNN tensors and direct calls of a kernel all end. The observer, a Python callable, is told of each
// outermost one when it has run: name, whether it is pointwise, input tensors, tensors it wrote to, results, whether a fraction
// was among its arguments, and what was touched since.
//
// Memory: tensors on the host lie in pages that nothing can read or write except an operation, a launch of the interpreter and
// the observer while they run. Whatever else touches them (numpy, DLPack, buffers, serialisation, ctypes, Tensor.apply_) faults;
// the fault is noted with its address, and the page opened until the next operation ends.

#include <Python.h>

#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/CPUAllocator.h>
#include <torch/csrc/autograd/python_variable.h>

#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace {

constexpr uintptr_t kPage = 4096;
constexpr unsigned char kMargin = 0xA5;

// ---------------------------------------------------------------- memory

// Ends move: that of tensors' memory grows, and memory that is guarded no more is empty.
struct Range {
  std::atomic<uintptr_t> begin{0}, end{0};
  bool holds(uintptr_t address) const { return address >= begin && address < end; }
};

constexpr int kMostRanges = 16;
Range ranges[kMostRanges];  // the first is tensors' memory

struct Touch {
  uintptr_t address;
  bool written;
};

constexpr int kMostTouches = 1 << 14;
Touch touches[kMostTouches];
std::atomic<int> touch_count{0};

std::atomic<bool> guarded{false};
bool reserved = false;
std::mutex door;
int openers = 0;
struct sigaction before;

void set_protection(int protection) {
  for (Range& each : ranges) {
    if (each.end > each.begin) mprotect(reinterpret_cast<void*>(each.begin.load()), each.end - each.begin, protection);
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

// Runs on the stack of the code that touched memory: no locks, no allocation.
void on_fault(int signal, siginfo_t* info, void* context) {
  uintptr_t address = reinterpret_cast<uintptr_t>(info->si_addr);
  for (const Range& each : ranges) {
    if (!each.holds(address)) continue;
    int at = touch_count.fetch_add(1);
    bool written = reinterpret_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_ERR] & 2;
    if (at < kMostTouches) touches[at] = {address, written};
    if (mprotect(reinterpret_cast<void*>(address & ~(kPage - 1)), kPage, PROT_READ | PROT_WRITE) == 0) return;
    break;
  }
  sigaction(SIGSEGV, &before, nullptr);  // not ours: happens again, and ends as it would have
}

// Tensors' memory on the host: whole pages of one reserved region, so that a fault names its tensor.
class Pages final : public c10::Allocator {
 public:
  bool reserve(size_t limit) {
    constexpr size_t size = size_t(1) << 40;
    void* at = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) return false;
    madvise(at, size, MADV_DONTFORK);
    next_ = reinterpret_cast<uintptr_t>(at);
    end_ = next_ + size;
    limit_ = limit;
    ranges[0].begin = ranges[0].end = next_;
    return true;
  }

  c10::DataPtr allocate(size_t bytes) override {
    if (bytes == 0) return {nullptr, nullptr, &release, c10::Device(c10::DeviceType::CPU)};
    void* data = take(bytes);
    TORCH_CHECK(data, "DefaultCPUAllocator: can't allocate memory: you tried to allocate ", bytes, " bytes.");
    // NaN in every floating dtype: what a kernel leaves out must not be what happened to lie there, which could be right.
    Opened opened;
    memset(data, 0xFF, bytes);
    memset(static_cast<char*>(data) + bytes, kMargin, block(bytes) - bytes);
    return {data, data, &release, c10::Device(c10::DeviceType::CPU)};
  }

  c10::DeleterFnPtr raw_deleter() const override { return &release; }

  void copy_data(void* to, const void* from, std::size_t count) const override { default_copy_data(to, from, count); }

  // Whether anything was written behind a tensor since last asked.
  bool take_overrun() {
    std::lock_guard<std::mutex> lock(mutex_);
    Opened opened;
    bool found = overrun_;
    for (auto [at, wanted] : wanted_) {
      if (!overrun(at, wanted)) continue;
      found = true;
      memset(reinterpret_cast<void*>(at + wanted), kMargin, block(wanted) - wanted);
    }
    overrun_ = false;
    return found;
  }

  // What has been freed may be used again: where it was touched has been told.
  void told() {
    std::lock_guard<std::mutex> lock(mutex_);
    reuse();
  }

 private:
  // Whole pages, with a page or more behind the tensor that nothing may write to.
  static size_t block(size_t bytes) { return ((bytes + kPage - 1) & ~(kPage - 1)) + kPage; }

  static bool overrun(uintptr_t at, size_t wanted) {
    const unsigned char* from = reinterpret_cast<unsigned char*>(at + wanted);
    for (const unsigned char* each = from; each < reinterpret_cast<unsigned char*>(at + block(wanted)); each++) {
      if (*each != kMargin) return true;
    }
    return false;
  }

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
    int protection = guarded && openers == 0 ? PROT_NONE : PROT_READ | PROT_WRITE;
    if (mprotect(reinterpret_cast<void*>(end), grown - end, protection) != 0) return false;
    ranges[0].end = grown;
    return true;
  }

  static void release(void* data);

  void give_back(uintptr_t at) {
    std::lock_guard<std::mutex> lock(mutex_);
    auto found = wanted_.find(at);
    if (found == wanted_.end()) return;
    size_t bytes = block(found->second);
    {
      Opened opened;
      overrun_ = overrun_ || overrun(at, found->second);
    }
    wanted_.erase(found);
    live_ -= bytes;
    held_ += bytes;
    freed_.emplace_back(at, bytes);
  }

  void reuse() {
    for (auto [at, bytes] : freed_) {
      // Large blocks are returned to the system.
      if (bytes >= (size_t(1) << 20)) madvise(reinterpret_cast<void*>(at), bytes, MADV_DONTNEED);
      free_[bytes].push_back(at);
    }
    freed_.clear();
    held_ = 0;
  }

  std::mutex mutex_;
  uintptr_t next_ = 0, end_ = 0;
  size_t limit_ = 0, live_ = 0, held_ = 0;
  std::vector<std::pair<uintptr_t, size_t>> freed_;
  std::map<size_t, std::vector<uintptr_t>> free_;
  std::unordered_map<uintptr_t, size_t> wanted_;
  bool overrun_ = false;
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
PyObject* interpreter = nullptr;
PyObject* account = nullptr;
std::atomic<bool> watching{false};
std::atomic<long> told{0};
thread_local int inside = 0;
thread_local int launching = 0;
std::unordered_set<void*>& trusted_code() {
  static auto* made = new std::unordered_set<void*>();
  return *made;
}

// Whether the Python function that called is one of the interpreter's own. Needs the interpreter's lock.
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
  }

  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack) {
    if (!watching || inside || (launching && is_trusted())) {
      kernel_.callBoxed(op, keys, stack);
      return;
    }
    std::vector<at::Tensor> inputs, written;
    bool fraction = gather(op, *stack, inputs, written);
    Entered entered;
    kernel_.callBoxed(op, keys, stack);
    if (!view_ || lacks_storage(inputs)) tell(op, *stack, inputs, written, fraction);
  }

 private:
  // Memory is open and nested operations are parts of this one.
  struct Entered {
    Opened opened;
    Entered() { inside++; }
    ~Entered() { inside--; }
  };

  static bool is_trusted() {
    PyGILState_STATE state = PyGILState_Ensure();
    bool trusted = asked_by_trusted_code();
    PyGILState_Release(state);
    return trusted;
  }

  bool gather(const c10::OperatorHandle& op, const torch::jit::Stack& stack, std::vector<at::Tensor>& inputs,
              std::vector<at::Tensor>& written) const {
    size_t count = op.schema().arguments().size(), first = stack.size() - count;
    bool fraction = false;
    for (size_t i = 0; i < count; i++) {
      collect(stack[first + i], inputs);
      fraction = fraction || stack[first + i].isDouble();
    }
    for (size_t i : written_) collect(stack[first + i], written);
    return fraction;
  }

  void tell(const c10::OperatorHandle& op, const torch::jit::Stack& stack, const std::vector<at::Tensor>& inputs,
            const std::vector<at::Tensor>& written, bool fraction) const {
    std::vector<at::Tensor> results;
    for (size_t i = stack.size() - op.schema().returns().size(); i < stack.size(); i++) collect(stack[i], results);
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    told++;
    PyObject* answer = PyObject_CallFunction(observer, "sONNNON", name_.c_str(), pointwise_ ? Py_True : Py_False, as_list(inputs),
                                             as_list(written), as_list(results), fraction ? Py_True : Py_False, take_touches());
    Py_XDECREF(answer);
    PyErr_Clear();
    PyErr_Restore(type, value, trace);
    PyGILState_Release(state);
  }

  c10::SafeKernelFunction kernel_;
  std::string name_;
  bool pointwise_, view_;
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

PyObject* reserve(PyObject*, PyObject* limit) {
  size_t bytes = PyLong_AsSize_t(limit);
  if (PyErr_Occurred()) return nullptr;
  if (!reserved && pages().reserve(bytes)) {
    reserved = true;
    struct sigaction action = {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
    sigaction(SIGSEGV, &action, &before);
    c10::SetCPUAllocator(&pages(), 255);
  }
  return PyBool_FromLong(reserved);
}

PyObject* cover(PyObject*, PyObject* arguments) {
  int number;
  unsigned long long address, bytes;
  if (!PyArg_ParseTuple(arguments, "iKK", &number, &address, &bytes)) return nullptr;
  if (number < 1 || number >= kMostRanges || address % kPage) {
    PyErr_SetString(PyExc_ValueError, "no such range, or one that does not begin at a page");
    return nullptr;
  }
  ranges[number].end = 0;
  ranges[number].begin = address;
  ranges[number].end = address + ((bytes + kPage - 1) & ~(kPage - 1));
  madvise(reinterpret_cast<void*>(address), bytes, MADV_DONTFORK);
  Py_RETURN_NONE;
}

PyObject* seal(PyObject*, PyObject* arguments) {
  PyObject *launches, *accounts, *codes;
  if (!PyArg_ParseTuple(arguments, "OOO!", &launches, &accounts, &PyTuple_Type, &codes)) return nullptr;
  if (interpreter) {
    PyErr_SetString(PyExc_RuntimeError, "sealed already");
    return nullptr;
  }
  Py_INCREF(launches);
  Py_INCREF(accounts);
  Py_INCREF(codes);
  interpreter = launches;
  account = accounts;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(codes); i++) trusted_code().insert(PyTuple_GET_ITEM(codes, i));
  Py_RETURN_NONE;
}

PyObject* call(PyObject* function, int& entered, PyObject* arguments) {
  if (!function) {
    PyErr_SetString(PyExc_RuntimeError, "nothing is sealed");
    return nullptr;
  }
  Opened opened;
  entered++;
  PyObject* result = PyObject_Call(function, arguments, nullptr);
  entered--;
  return result;
}

PyObject* interpret(PyObject*, PyObject* arguments) { return call(interpreter, launching, arguments); }

PyObject* note(PyObject*, PyObject* arguments) { return call(account, inside, arguments); }

PyObject* watch(PyObject*, PyObject* given) {
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

PyObject* touched(PyObject*, PyObject*) { return take_touches(); }

PyObject* overrun(PyObject*, PyObject*) { return PyBool_FromLong(reserved && pages().take_overrun()); }

PyObject* count(PyObject*, PyObject*) { return PyLong_FromLong(told); }

PyObject* covers(PyObject*, PyObject* given) {
  unsigned long long address = PyLong_AsUnsignedLongLong(given);
  if (PyErr_Occurred()) return nullptr;
  for (const Range& each : ranges) {
    if (each.holds(address)) Py_RETURN_TRUE;
  }
  Py_RETURN_FALSE;
}

PyObject* intact(PyObject*, PyObject*) {
  if (!reserved) return PyBool_FromLong(watching);
  struct sigaction now;
  sigaction(SIGSEGV, nullptr, &now);
  return PyBool_FromLong(watching && guarded && now.sa_sigaction == on_fault && c10::GetCPUAllocator() == &pages());
}

PyMethodDef methods[] = {
    {"install", install, METH_NOARGS, "Wraps the kernels of all operations; how many. Once a process, or in the one it is forked from."},
    {"reserve", reserve, METH_O, "Has tensors on the host allocated in guarded pages, at most so many bytes; whether that worked."},
    {"cover", cover, METH_VARARGS, "Guards mapped memory at an address, so many bytes, as range 1 to 15, in place of what was that."},
    {"seal", seal, METH_VARARGS,
     "Names, once, the functions that interpret and note call, and the code objects that compute with PyTorch for the interpreter."},
    {"interpret", interpret, METH_VARARGS, "Calls the sealed interpreter with memory open."},
    {"note", note, METH_VARARGS, "Calls the sealed account with memory open; its operations are not told."},
    {"covers", covers, METH_O, "Whether an address lies in guarded memory."},
    {"intact", intact, METH_NOARGS, "Whether operations are told of, and memory is guarded, as asked for."},
    {"watch", watch, METH_O, "Tells an observer of every operation and guards memory, until called with None."},
    {"touched", touched, METH_NOARGS, "What was touched outside of operations since last asked: (address, written), one a page."},
    {"overrun", overrun, METH_NOARGS, "Whether anything was written behind the end of a tensor since last asked."},
    {"count", count, METH_NOARGS, "How often an observer was told."},
    {}};

PyModuleDef definition = {PyModuleDef_HEAD_INIT, "watch", "See the source.", -1, methods};

}  // namespace

PyMODINIT_FUNC PyInit_watch() { return PyModule_Create(&definition); }
