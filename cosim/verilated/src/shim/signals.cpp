// Every signal of the design, cycle by cycle, in the wave variant. It follows shim.cpp in the same translation unit; a
// file of its own, so that a change of it builds no other variant anew.

namespace {

// Verilator's wave text, kept in memory: in Verilator's own buffer, which it fills anew with the next dump, as long as
// all of it is there.
class TextSink final : public VerilatedVcdFile {
    std::string m_text;
    bool m_last = false;

public:
    const char* data = nullptr;
    size_t length = 0;

    bool open(const std::string&) override { return true; }
    void close() override {}
    void clear() {
        m_text.clear();
        length = 0;
    }
    // Nothing follows before `clear`.
    void flush(VerilatedVcdC& writer) {
        m_last = true;
        writer.flush();
        m_last = false;
    }
    ssize_t write(const char* bytes, ssize_t count) override {
        if (m_last && m_text.empty()) {
            data = bytes;
            length = count;
        } else {
            m_text.append(bytes, count);
            data = m_text.data();
            length = m_text.size();
        }
        return count;
    }
};

struct Signals final {
    TextSink sink;
    VerilatedVcdC writer{&sink};
    // Verilator wants times that grow, also where a model goes back to a snapshot.
    uint64_t time = 0;
};

}  // namespace

// Gives the declarations of all signals as text, which stays until the next call; null on failure.
ATOMS_API void* atoms_open_signals(void* self, const char** text, size_t* length) {
    Handle& handle = *static_cast<Handle*>(self);
    std::unique_ptr<Signals> signals{new (std::nothrow) Signals};
    if (!signals) return nullptr;
    const Status before = handle.status;
    guarded(handle, [&] {
        handle.model->trace(&signals->writer, 99);
        signals->writer.open("");
        signals->sink.flush(signals->writer);
    });
    *text = signals->sink.data;
    *length = signals->sink.length;
    return handle.status == before ? signals.release() : nullptr;
}

ATOMS_API void atoms_close_signals(void* self, void* opened) {
    std::unique_ptr<Signals> signals{static_cast<Signals*>(opened)};
    guarded(*static_cast<Handle*>(self), [&] { signals.reset(); });
}

// As atoms_cycle. Gives what changed since the call before, as the signals stand before the clock edge: there they fit
// the inputs and the outputs of the cycle.
ATOMS_API int32_t atoms_cycle_signals(void* self, void* opened, const In* in, Out* out, Probe* probe,
                                      const char** text, size_t* length) {
    Handle& handle = *static_cast<Handle*>(self);
    Signals& signals = *static_cast<Signals*>(opened);
    signals.sink.clear();
    *length = 0;
    if (handle.status != kOk) return handle.status;
    const Status status = guarded(handle, [&] {
        settle(handle, *in, *out, *probe);
        signals.writer.dump(signals.time++);
        signals.sink.flush(signals.writer);
        rise(handle);
        ++handle.cycle;
    });
    *text = signals.sink.data;
    *length = signals.sink.length;
    return status;
}
