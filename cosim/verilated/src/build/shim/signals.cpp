// Signals of the design in every cycle, in the wave variant. This file follows records.h and shim.cpp in the
// same translation unit. The separate file avoids a rebuild of the other variants after a change.

namespace {

// Text of the declarations that Verilator writes. Later text is dropped: it has only the time of each cycle.
class Declarations final : public VerilatedVcdFile {
public:
    std::string text;
    bool whole = false;

    bool open(const std::string&) override { return true; }
    void close() override {}
    ssize_t write(const char* bytes, ssize_t count) override {
        if (!whole) text.append(bytes, count);
        return count;
    }
};

struct Signals final {
    Declarations declarations;
    AtomsRecords records;
    AtomsWriter writer{&declarations, &records};
    // Verilator needs increasing times, even after a restore.
    uint64_t time = 0;
};

}  // namespace

// Returns the opened signals, and their declarations as text, which stays until the signals are closed.
// Returns null on failure.
ATOMS_API void* atoms_open_signals(void* self, const char** text, size_t* length) {
    Handle& handle = *static_cast<Handle*>(self);
    std::unique_ptr<Signals> signals{new (std::nothrow) Signals};
    if (!signals) return nullptr;
    const Status before = handle.status;
    guarded(handle, [&] {
        handle.model->trace(&signals->writer, 99);
        signals->writer.open("");
        signals->writer.flush();
        signals->declarations.whole = true;
    });
    *text = signals->declarations.text.data();
    *length = signals->declarations.text.size();
    return handle.status == before ? signals.release() : nullptr;
}

ATOMS_API void atoms_close_signals(void* self, void* opened) {
    std::unique_ptr<Signals> signals{static_cast<Signals*>(opened)};
    guarded(*static_cast<Handle*>(self), [&] { signals.reset(); });
}

// Runs a cycle like atoms_cycle. Returns the changes since the previous call as bytes in the format of
// records.h, which stay until the next call. The values are those before the clock edge, which match the
// inputs and the outputs of the cycle.
ATOMS_API int32_t atoms_cycle_signals(void* self, void* opened, const In* in, Out* out, Probe* probe,
                                      const char** bytes, size_t* length) {
    Handle& handle = *static_cast<Handle*>(self);
    Signals& signals = *static_cast<Signals*>(opened);
    signals.records.clear();
    *length = 0;
    if (handle.status != kOk) return handle.status;
    const Status status = guarded(handle, [&] {
        settle(handle, *in);
        get_outputs(*handle.model, *out);
        get_probe(*handle.model, *probe);
        signals.writer.dump(signals.time++);
        rise(handle);
    });
    *bytes = reinterpret_cast<const char*>(signals.records.data());
    *length = signals.records.bytes();
    return status;
}
