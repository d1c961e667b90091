// Sees launches and copies where they reach the GPU's driver, whoever asks for them: a library called by ctypes or linked to a
// candidate's C++, TorchScript's fuser, torch.compile's own launcher. CUPTI calls back for each; what PyTorch's operations and Triton's
// launcher ask for is accounted for elsewhere and left out.
//
// CUPTI comes with PyTorch, and nothing of CUDA is needed to build this: the few declarations below are CUPTI's and the driver's ABI.
// Where PyTorch has none, its functions are null.

#include "driver.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>

extern "C" {
int cuptiGetVersion(uint32_t* version) __attribute__((weak));
int cuptiSubscribe(void** subscriber, void* callback, void* data) __attribute__((weak));
int cuptiEnableCallback(uint32_t on, void* subscriber, int domain, uint32_t number) __attribute__((weak));
int cuptiGetCallbackName(int domain, uint32_t number, const char** name) __attribute__((weak));
}

namespace driver {
namespace {

constexpr int kDriverApi = 1;  // CUPTI_CB_DOMAIN_DRIVER_API
constexpr int kEnter = 0;      // CUPTI_API_ENTER
constexpr uint32_t kMostNumbers = 4096;
constexpr int kMostFrames = 48;
constexpr size_t kMostParameters = 4096, kMostWords = 4096;  // a launch takes 32,764 bytes of parameters
constexpr size_t kMostCalls = 4096, kMostAddresses = 1 << 20;
constexpr uint64_t kLeastAddress = 1 << 20;

// CUpti_CallbackData.
struct Data {
  int site;
  const char* function;
  const void* parameters;
  void* result;
  const char* symbol;
};

using Layout = int (*)(void*, size_t, size_t*, size_t*);

void* subscriber = nullptr;
std::vector<uint32_t> numbers;  // of the callbacks
bool (*accounted)() = nullptr;
Layout of_function = nullptr, of_kernel = nullptr;
thread_local uint64_t expected = 0;
std::atomic<long> count{0};
std::mutex door;
std::vector<Call> calls;
size_t addresses = 0;  // of all calls
bool lost = false;

bool begins(const char* text, const char* with) { return std::strncmp(text, with, std::strlen(with)) == 0; }

const char* base(const char* file) {
  const char* slash = std::strrchr(file, '/');
  return slash ? slash + 1 : file;
}

// The first file on the stack that is neither CUDA's runtime and driver, nor CUPTI, nor this one.
std::string asking() {
  void* frames[kMostFrames];
  Dl_info here = {}, info;
  dladdr(reinterpret_cast<void*>(&asking), &here);
  int depth = backtrace(frames, kMostFrames);
  for (int i = 0; i < depth; i++) {
    if (!dladdr(frames[i], &info) || !info.dli_fname) return "";
    if (info.dli_fbase == here.dli_fbase) continue;
    const char* file = base(info.dli_fname);
    if (begins(file, "libcuda.so") || begins(file, "libcudart") || begins(file, "libcupti")) continue;
    return info.dli_fname;
  }
  return "";
}

void add_words(const void* from, size_t bytes, std::set<uint64_t>& into) {
  for (size_t at = 0; at + sizeof(uint64_t) <= bytes && into.size() < kMostWords; at += sizeof(uint64_t)) {
    uint64_t word;
    std::memcpy(&word, static_cast<const char*>(from) + at, sizeof word);
    if (word >= kLeastAddress) into.insert(word);
  }
}

// The parameters that a launch is given one by one. CUDA's runtime passes a kernel where the driver's function takes a function.
void add_parameters(void* function, void* const* values, std::set<uint64_t>& into) {
  for (size_t i = 0; values && i < kMostParameters; i++) {
    size_t offset, bytes;
    bool known = (of_function && of_function(function, i, &offset, &bytes) == 0) || (of_kernel && of_kernel(function, i, &offset, &bytes) == 0);
    if (!known) return;
    add_words(values[i], bytes, into);
  }
}

// CU_LAUNCH_PARAM_BUFFER_POINTER and CU_LAUNCH_PARAM_BUFFER_SIZE.
void add_buffer(void* const* extra, std::set<uint64_t>& into) {
  const void* buffer = nullptr;
  size_t bytes = 0;
  for (; extra && *extra; extra += 2) {
    if (extra[0] == reinterpret_cast<void*>(1)) buffer = extra[1];
    if (extra[0] == reinterpret_cast<void*>(2)) bytes = *static_cast<size_t*>(extra[1]);
  }
  if (buffer) add_words(buffer, bytes, into);
}

struct Grid {
  void* function;
  unsigned int sizes[7];
  void* stream;
  void** values;
  void** extra;  // not of a cooperative launch
};

struct Configured {
  const void* config;
  void* function;
  void** values;
  void** extra;
};

// Whether it is the launch that is expected; its addresses, if not.
bool is_expected(const Data& data, std::set<uint64_t>& addresses) {
  bool configured = begins(data.function, "cuLaunchKernelEx"), cooperative = begins(data.function, "cuLaunchCooperativeKernel");
  if (cooperative && std::strstr(data.function, "MultiDevice")) return false;  // takes a list of launches
  if (!configured && !cooperative && !begins(data.function, "cuLaunchKernel")) return false;
  const Grid* grid = static_cast<const Grid*>(data.parameters);
  const Configured* other = static_cast<const Configured*>(data.parameters);
  void* function = configured ? other->function : grid->function;
  if (expected && reinterpret_cast<uint64_t>(function) == expected) return true;
  add_parameters(function, configured ? other->values : grid->values, addresses);
  if (!cooperative) add_buffer(configured ? other->extra : grid->extra, addresses);
  return false;
}

// ``cutlass::Kernel2`` of a mangled template; other names as they are.
std::string plain(const char* symbol) {
  int status = 0;
  char* text = abi::__cxa_demangle(symbol, nullptr, nullptr, &status);
  std::string whole = text ? text : symbol, name;
  std::free(text);
  const std::string nameless = "(anonymous namespace)::";
  for (size_t at; (at = whole.find(nameless)) != std::string::npos;) whole.erase(at, nameless.size());
  int templates = 0, parentheses = 0;
  for (char each : whole) {
    if (each == '(' && templates == 0) break;
    parentheses += (each == '(') - (each == ')');
    bool bracket = (each == '<' || each == '>') && parentheses == 0;
    if (bracket) templates += each == '<' ? 1 : -1;
    if (!bracket && templates == 0) name += each;
  }
  return name.substr(name.rfind(' ') + 1);  // behind what it returns
}

Kind kind_of(const char* function) {
  if (begins(function, "cuMemcpy")) {
    if (std::strstr(function, "toH")) return Kind::kToHost;
    return std::strstr(function, "Hto") ? Kind::kFromHost : Kind::kCopy;
  }
  return Kind::kLaunch;
}

// Joins calls that differ in nothing but addresses.
void join() {
  std::map<std::tuple<Kind, std::string, std::string>, size_t> places;
  std::vector<Call> joined;
  for (Call& call : calls) {
    auto [place, fresh] = places.try_emplace({call.kind, call.name, call.library}, joined.size());
    if (fresh) {
      joined.push_back(std::move(call));
    } else {
      joined[place->second].addresses.merge(call.addresses);
    }
  }
  calls = std::move(joined);
  addresses = 0;
  for (const Call& call : calls) addresses += call.addresses.size();
}

// Calls join when there are too many: a candidate's own C++ may launch as often as it likes. If there still are, the account is lost.
void keep(Call call) {
  std::lock_guard<std::mutex> lock(door);
  if (lost) return;
  if (calls.size() >= kMostCalls || addresses >= kMostAddresses) join();
  lost = calls.size() >= kMostCalls || addresses >= kMostAddresses;
  if (lost) return;
  addresses += call.addresses.size();
  calls.push_back(std::move(call));
}

void note(const Data& data) {
  if (accounted()) return;
  Call call{kind_of(data.function), "", "", {}};
  if (call.kind != Kind::kLaunch) {
    // Target and source, or the address of what describes a copy in two or three dimensions; a batch's lists are not followed.
    bool described = (std::strstr(data.function, "2D") || std::strstr(data.function, "3D")) && !std::strstr(data.function, "Batch");
    const void* from = described ? *static_cast<const void* const*>(data.parameters) : data.parameters;
    add_words(from, described ? 16 * sizeof(uint64_t) : 2 * sizeof(uint64_t), call.addresses);
  } else if (is_expected(data, call.addresses)) {
    return;
  }
  call.name = data.symbol && call.kind == Kind::kLaunch ? plain(data.symbol) : data.function;
  call.library = asking();
  keep(std::move(call));
}

void called(void*, int, uint32_t, const Data* data) {
  if (data->site != kEnter) return;
  count++;
  note(*data);
}

// Empty, or why not.
std::string subscribe() {
  if (!cuptiSubscribe) return "PyTorch has no CUPTI";
  if (int error = cuptiSubscribe(&subscriber, reinterpret_cast<void*>(&called), nullptr)) return "cuptiSubscribe: error " + std::to_string(error);
  if (void* cuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD)) {
    of_function = reinterpret_cast<Layout>(dlsym(cuda, "cuFuncGetParamInfo"));  // since CUDA 12.4
    of_kernel = reinterpret_cast<Layout>(dlsym(cuda, "cuKernelGetParamInfo"));
  }
  for (uint32_t number = 1; number < kMostNumbers; number++) {
    const char* name = nullptr;
    if (cuptiGetCallbackName(kDriverApi, number, &name) != 0 || !name) continue;
    bool host = begins(name, "cuLaunchHostFunc");  // no work of the GPU
    if ((begins(name, "cuLaunch") && !host) || begins(name, "cuMemcpy") || begins(name, "cuGraphLaunch")) numbers.push_back(number);
  }
  return "";
}

}  // namespace

uint32_t version() {
  uint32_t found = 0;
  if (cuptiGetVersion) cuptiGetVersion(&found);
  return found;
}

std::string watch(bool on, bool (*is_accounted)()) {
  accounted = is_accounted;
  if (!subscriber) {
    if (std::string lack = subscribe(); !lack.empty()) return lack;
  }
  if (on) take();  // what a call has left that failed
  for (uint32_t number : numbers) cuptiEnableCallback(on, subscriber, kDriverApi, number);
  return "";
}

void expect(uint64_t function) { expected = function; }

std::optional<std::vector<Call>> take() {
  std::lock_guard<std::mutex> lock(door);
  std::vector<Call> taken = std::exchange(calls, {});
  addresses = 0;
  if (std::exchange(lost, false)) return std::nullopt;
  return taken;
}

long seen() { return count; }

}  // namespace driver
