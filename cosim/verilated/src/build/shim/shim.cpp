// The C ABI of a library: functions over the structs of atoms_ports.h, which is generated from the port list.
// Mirror: abi.rs. No exception and no exit leaves this file.
#include "atoms_ports.h"

// Variant of this library. The numbers are those of abi.rs.
#define ATOMS_WAVES (ATOMS_VARIANT == 1)
#define ATOMS_COVERAGE (ATOMS_VARIANT >= 2)
#define ATOMS_SNAPSHOTS (!ATOMS_COVERAGE)

#if ATOMS_SNAPSHOTS
#include "verilated_save.h"
#endif
#if ATOMS_WAVES
#include "verilated_vcd_c.h"
#endif

#include <cstdarg>
#include <cstdio>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <vector>

#define ATOMS_API extern "C" __attribute__((visibility("default")))

namespace {

// Mirror: abi.rs. kDiffers is the status of a cycle, not of a handle.
enum Status : int32_t { kOk = 0, kStopped = 1, kFailed = 2, kDiffers = 3 };

// Longest text kept of the design's output, in bytes. The oldest text is dropped first.
constexpr size_t kLogBytes = 1 << 16;

// Thrown by vl_fatal, whose callers do not expect it to return.
struct Fatal final : std::exception {};

struct Handle final {
    VerilatedContext context;
    std::unique_ptr<Model> model;
#if ATOMS_WAVES
    std::unique_ptr<VerilatedVcdC> trace;
#endif
#if ATOMS_COVERAGE
    std::vector<AtomsPoint> points;
#endif
    uint32_t* bank[kBanks] = {};
    uint64_t cycle = 0;
    // True if the model has been evaluated, which also initializes it.
    bool begun = false;
    Status status = kOk;
    // Place and reason of the stop, or the text of an exception.
    std::string file, message;
    uint64_t stop_cycle = 0;
    int32_t line = 0;
    // Text that the design printed and that was not fetched yet.
    std::string log;
#if ATOMS_SNAPSHOTS
    std::vector<uint8_t> saved;
#endif

    void enter();
    // Only the first stop counts: later ones are consequences of it.
    void stop(const char* where, int at, std::string why, Status how) {
        if (status != kOk) return;
        status = how;
        stop_cycle = cycle;
        file = where ? where : "";
        line = at;
        message = std::move(why);
    }
};

// Handle whose model runs on this thread. Verilator's callbacks carry no pointer of ours.
thread_local Handle* current = nullptr;

void Handle::enter() {
    current = this;
    // A context destroyed on this thread leaves its pointer behind. Using that pointer would hang.
    Verilated::threadContextp(&context);
}

std::string last_line(const std::string& log) {
    const size_t end = log.find_last_not_of('\n');
    if (end == std::string::npos) return "";
    const size_t start = log.rfind('\n', end);
    const size_t from = start == std::string::npos ? 0 : start + 1;
    return log.substr(from, end + 1 - from);
}

// Runs `body` on `handle`, and turns any exception into a status.
template <class Body>
Status guarded(Handle& handle, Body body) {
    handle.enter();
    try {
        body();
    } catch (const Fatal&) {
        // vl_fatal has recorded it.
    } catch (const std::exception& error) {
        handle.stop("", 0, error.what(), kFailed);
    } catch (...) {
        handle.stop("", 0, "unknown C++ exception", kFailed);
    }
    return handle.status;
}

#if ATOMS_SNAPSHOTS
class Saver final : public VerilatedSerialize {
    std::vector<uint8_t>& m_bytes;

public:
    explicit Saver(std::vector<uint8_t>& bytes) : m_bytes{bytes} { m_bytes.clear(); }
    void flush() override {
        m_bytes.insert(m_bytes.end(), m_bufp, m_cp);
        m_cp = m_bufp;
    }
};

class Restorer final : public VerilatedDeserialize {
    const uint8_t* m_from;
    const uint8_t* const m_end;

public:
    Restorer(const uint8_t* bytes, size_t length) : m_from{bytes}, m_end{bytes + length} {
        m_endp = m_cp;
    }
    // Zeros follow the end, so that a reader never runs past the buffer.
    void fill() override {
        const size_t kept = m_endp - m_cp;
        std::memmove(m_bufp, m_cp, kept);
        m_cp = m_bufp;
        m_endp = m_bufp + bufferSize();
        const size_t room = bufferSize() - kept;
        const size_t some = std::min<size_t>(room, m_end - m_from);
        std::memcpy(m_bufp + kept, m_from, some);
        std::memset(m_bufp + kept + some, 0, room - some);
        m_from += some;
    }
};
#endif

}  // namespace

// The runtime has thread-local objects with destructors (buffers of text). A destructor that the C library
// knows of keeps the whole library mapped until its thread ends. So this function does not register the
// destructor. The memory of such an object is not freed: less than a kilobyte for each thread that evaluates
// a model. Only calls of this library reach this function.
extern "C" __attribute__((visibility("hidden"))) int __cxa_thread_atexit(void (*)(void*), void*, void*) noexcept {
    return 0;
}

// Verilator's runtime calls these functions; see capture.h.

int atoms_printf(const char* format, ...) {
    char line[1024];
    va_list args;
    va_start(args, format);
    const int length = std::vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (current) {
        current->log += line;
        if (current->log.size() > kLogBytes) current->log.erase(0, current->log.size() - kLogBytes / 2);
    }
    return length;
}

void vl_finish(const char* filename, int linenum, const char*) VL_MT_UNSAFE {
    if (current) current->stop(filename, linenum, "$finish", kStopped);
}

void vl_stop(const char* filename, int linenum, const char*) VL_MT_UNSAFE {
    if (current) current->stop(filename, linenum, last_line(current->log), kStopped);
}

void vl_fatal(const char* filename, int linenum, const char*, const char* msg) VL_MT_UNSAFE {
    if (current) current->stop(filename, linenum, msg ? msg : "", kFailed);
    throw Fatal{};
}

void vl_warn(const char* filename, int linenum, const char*, const char* msg) VL_MT_UNSAFE {
    atoms_printf("%%Warning: %s:%d: %s\n", filename ? filename : "", linenum, msg ? msg : "");
}

#if ATOMS_COVERAGE
// Called while a model is constructed.
void atoms_add_point(AtomsPoint&& point) {
    if (current) current->points.push_back(std::move(point));
}
#endif

ATOMS_API void atoms_layout(uint32_t out[8]) {
    out[0] = kAbi;
    out[1] = sizeof(In);
    out[2] = sizeof(Out);
    out[3] = sizeof(Probe);
    out[4] = kLanes;
    out[5] = kBanks;
    out[6] = kRows;
    out[7] = ATOMS_VARIANT;
}

ATOMS_API void* atoms_create() {
    std::unique_ptr<Handle> handle{new (std::nothrow) Handle};
    if (!handle) return nullptr;
    const Status status = guarded(*handle, [&] {
#if ATOMS_WAVES
        handle->context.traceEverOn(true);
#endif
        handle->model = std::make_unique<Model>(&handle->context);
        bind_banks(*handle->model, handle->bank);
    });
    return status == kOk ? handle.release() : nullptr;
}

ATOMS_API void atoms_destroy(void* self) {
    std::unique_ptr<Handle> handle{static_cast<Handle*>(self)};
    guarded(*handle, [&] {
#if ATOMS_WAVES
        if (handle->trace) handle->trace->close();
        handle->trace.reset();
#endif
        handle->model->final();
        handle->model.reset();
    });
    current = nullptr;
}

// Verilator's eval() takes locks, which only a model with threads needs. It also lets the design react to its
// inputs at both edges of the clock. The shorter evaluation leaves out both. Waves need the rest of eval().
#define ATOMS_SHORTER (ATOMS_PHASES && !ATOMS_WAVES)

static void clock_edge(Model& model) {
#if ATOMS_SHORTER
    for (int phases = 0; phases < 100; ++phases) {
        if (!act_phase(model) && !nba_phase(model)) return;
    }
    // The design does not settle. eval() reports that.
#endif
    model.eval();
}

// Runs the half of a cycle before its clock edge, in which the design reacts to these inputs.
static void settle(Handle& handle, const In& in) {
    Model& model = *handle.model;
    handle.context.time(2 * handle.cycle);
    model.clk_i = 0;
    put_inputs(model, in);
#if ATOMS_SHORTER
    if (handle.begun) return evaluate(model);
#endif
    model.eval();
    handle.begun = true;
#if ATOMS_WAVES
    if (handle.trace) handle.trace->dump(2 * handle.cycle);
#endif
}

// Runs the clock edge. Only registers can change the outputs here, because the inputs have settled.
static void rise(Handle& handle) {
    handle.context.time(2 * handle.cycle + 1);
    handle.model->clk_i = 1;
    clock_edge(*handle.model);
#if ATOMS_WAVES
    if (handle.trace) handle.trace->dump(2 * handle.cycle + 1);
#endif
    ++handle.cycle;
}

ATOMS_API int32_t atoms_cycle(void* self, const In* in, Out* out, Probe* probe) {
    Handle& handle = *static_cast<Handle*>(self);
    if (handle.status != kOk) return handle.status;
    return guarded(handle, [&] {
        settle(handle, *in);
        get_outputs(*handle.model, *out);
        get_probe(*handle.model, *probe);
        rise(handle);
    });
}

// Runs a cycle like atoms_cycle if the design drives the expected values. Else returns kDiffers and the
// values found, without a clock edge.
ATOMS_API int32_t atoms_cycle_expecting(void* self, const In* in, const Out* expected, const Probe* shown, Out* out,
                                        Probe* probe) {
    Handle& handle = *static_cast<Handle*>(self);
    if (handle.status != kOk) return handle.status;
    bool differs = false;
    const Status status = guarded(handle, [&] {
        settle(handle, *in);
        const Model& model = *handle.model;
        differs = !(drives(model, *expected) && shows(model, *shown));
        if (!differs) return rise(handle);
        get_outputs(*handle.model, *out);
        get_probe(*handle.model, *probe);
    });
    return differs ? static_cast<int32_t>(kDiffers) : static_cast<int32_t>(status);
}

ATOMS_API uint64_t atoms_cycles(const void* self) { return static_cast<const Handle*>(self)->cycle; }

#if ATOMS_SNAPSHOTS
ATOMS_API int32_t atoms_save(void* self, const uint8_t** bytes, size_t* length) {
    Handle& handle = *static_cast<Handle*>(self);
    const Status status = guarded(handle, [&] {
        Saver saver{handle.saved};
        saver << *handle.model;
        saver.flush();
    });
    *bytes = handle.saved.data();
    *length = handle.saved.size();
    return status;
}

ATOMS_API int32_t atoms_restore(void* self, const uint8_t* bytes, size_t length, uint64_t cycle) {
    Handle& handle = *static_cast<Handle*>(self);
    if (handle.status == kFailed) return handle.status;
    handle.status = kOk;
    handle.cycle = cycle;
    return guarded(handle, [&] {
        Restorer restorer{bytes, length};
        restorer >> *handle.model;
    });
}
#endif

ATOMS_API uint32_t* atoms_bank(void* self, uint32_t bank) { return static_cast<Handle*>(self)->bank[bank]; }

ATOMS_API void atoms_read_memory(const void* self, uint32_t* words) {
    const Handle& handle = *static_cast<const Handle*>(self);
    for (size_t row = 0; row < kRows; ++row) {
        for (size_t bank = 0; bank < kBanks; ++bank) *words++ = handle.bank[bank][row];
    }
}

ATOMS_API void atoms_write_memory(void* self, const uint32_t* words) {
    Handle& handle = *static_cast<Handle*>(self);
    for (size_t row = 0; row < kRows; ++row) {
        for (size_t bank = 0; bank < kBanks; ++bank) handle.bank[bank][row] = *words++;
    }
}

ATOMS_API void atoms_clear_memory(void* self) {
    for (uint32_t* bank : static_cast<Handle*>(self)->bank) std::memset(bank, 0, kRows * sizeof(uint32_t));
}

ATOMS_API const char* atoms_stop(const void* self, uint64_t* cycle, int32_t* line, const char** message) {
    const Handle& handle = *static_cast<const Handle*>(self);
    *cycle = handle.stop_cycle;
    *line = handle.line;
    *message = handle.message.c_str();
    return handle.file.c_str();
}

ATOMS_API const char* atoms_log(const void* self) { return static_cast<const Handle*>(self)->log.c_str(); }

ATOMS_API void atoms_clear_log(void* self) { static_cast<Handle*>(self)->log.clear(); }

#if ATOMS_WAVES
ATOMS_API int32_t atoms_open_trace(void* self, const char* path) {
    Handle& handle = *static_cast<Handle*>(self);
    bool opened = false;
    const Status status = guarded(handle, [&] {
        handle.trace = std::make_unique<AtomsWriter>();
        handle.model->trace(handle.trace.get(), 99);
        handle.trace->open(path);
        opened = handle.trace->isOpen();
        if (!opened) handle.trace.reset();
    });
    return opened ? static_cast<int32_t>(kOk) : status == kOk ? -1 : static_cast<int32_t>(status);
}

ATOMS_API int32_t atoms_close_trace(void* self) {
    Handle& handle = *static_cast<Handle*>(self);
    return guarded(handle, [&] {
        if (handle.trace) handle.trace->close();
        handle.trace.reset();
    });
}
#endif

#if ATOMS_COVERAGE
// Mirror: `RawPoint` in abi.rs.
struct Point {
    const char *file, *hierarchy, *page, *comment, *lines;
    uint32_t line, column;
};

ATOMS_API size_t atoms_points(const void* self) { return static_cast<const Handle*>(self)->points.size(); }

ATOMS_API void atoms_point(const void* self, size_t index, Point* out) {
    const AtomsPoint& point = static_cast<const Handle*>(self)->points[index];
    *out = {point.file.c_str(),    point.hierarchy.c_str(), point.page.c_str(), point.comment.c_str(),
            point.lines.c_str(),   point.line,              point.column};
}

ATOMS_API void atoms_counts(const void* self, uint64_t* counts) {
    for (const AtomsPoint& point : static_cast<const Handle*>(self)->points) *counts++ = *point.count;
}

ATOMS_API void atoms_set_counts(void* self, const uint64_t* counts) {
    for (AtomsPoint& point : static_cast<Handle*>(self)->points) {
        *point.count = static_cast<uint32_t>(std::min<uint64_t>(*counts++, UINT32_MAX));
    }
}
#endif
