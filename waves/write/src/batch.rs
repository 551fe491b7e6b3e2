//! Batches of records from a trace to the writer thread.

/// Size in bytes at which a batch is sent: small enough that all batches in flight stay in the cache.
const FULL_BYTES: usize = 1 << 16;

/// Values that consecutive cycles set, in order. `T` is the input of [`Deferred`](crate::Deferred).
#[derive(Debug, Default)]
pub(crate) struct Batch<T> {
    records: Vec<Record>,
    /// Values that do not fit into a record. `bytes` holds the bytes whose count is in the records, in order.
    wide: Vec<u128>,
    bytes: Vec<u8>,
    /// One entry per deferred record. Entries after `deferred_count` are kept for reuse.
    deferred: Vec<T>,
    deferred_count: usize,
}

/// A record of a batch, kept small, since a cycle has hundreds of records.
#[derive(Clone, Copy, Debug)]
enum Record {
    Narrow(u32, u64),
    Wide(u32),
    Bytes(u32, u32),
    Stem(u32),
    Numbered(u32, u32),
    Happens(u32),
    Deferred,
    Tick(u64),
    End(u64),
}

/// A record as the writer thread reads it. The first field is the number of the signal.
#[derive(Clone, Copy, Debug)]
pub(crate) enum BatchEntry<'a, T> {
    /// Set a signal of at most 128 bits.
    Number(u32, u128),
    /// Set a signal of any width, or a text.
    Bytes(u32, &'a [u8]),
    /// Set the stem of the following numbered texts.
    Stem(&'a [u8]),
    /// Set a text to the last stem followed by this number.
    Numbered(u32, u32),
    Happens(u32),
    Deferred(&'a T),
    Tick(u64),
    /// End the trace at this time.
    End(u64),
}

impl<T> Batch<T> {
    pub(crate) fn number(&mut self, signal: u32, value: u128) {
        self.records.push(match u64::try_from(value) {
            Ok(value) => Record::Narrow(signal, value),
            Err(_) => {
                self.wide.push(value);
                Record::Wide(signal)
            }
        });
    }

    pub(crate) fn bytes(&mut self, signal: u32, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.records.push(Record::Bytes(signal, bytes.len() as u32));
    }

    pub(crate) fn stem(&mut self, stem: &[u8]) {
        self.bytes.extend_from_slice(stem);
        self.records.push(Record::Stem(stem.len() as u32));
    }

    pub(crate) fn numbered(&mut self, signal: u32, number: u32) {
        self.records.push(Record::Numbered(signal, number));
    }

    pub(crate) fn happens(&mut self, signal: u32) {
        self.records.push(Record::Happens(signal));
    }

    /// Adds a deferred entry for the caller to fill. It may still have the content of an earlier use.
    pub(crate) fn deferred(&mut self) -> &mut T
    where
        T: Default,
    {
        self.records.push(Record::Deferred);
        let at = self.deferred_count;
        self.deferred_count += 1;
        if at == self.deferred.len() {
            self.deferred.push(T::default());
        }
        &mut self.deferred[at]
    }

    pub(crate) fn tick(&mut self, cycle: u64) {
        self.records.push(Record::Tick(cycle));
    }

    pub(crate) fn end(&mut self, time: u64) {
        self.records.push(Record::End(time));
    }

    pub(crate) fn is_full(&self) -> bool {
        let Batch { records, wide, bytes, deferred, deferred_count } = self;
        let deferred = &deferred[..*deferred_count];
        size_of_val(&records[..]) + size_of_val(&wide[..]) + bytes.len() + size_of_val(deferred) >= FULL_BYTES
    }

    pub(crate) fn clear(&mut self) {
        let Batch { records, wide, bytes, deferred: _, deferred_count } = self;
        records.clear();
        wide.clear();
        bytes.clear();
        *deferred_count = 0;
    }

    pub(crate) fn steps(&self) -> impl Iterator<Item = BatchEntry<'_, T>> {
        let (mut wide, mut bytes, mut deferred) = (self.wide.iter(), &self.bytes[..], self.deferred.iter());
        let mut wide = move || *wide.next().expect("one for each such record");
        let mut some = move |count: u32| {
            let (first, rest) = bytes.split_at(count as usize);
            bytes = rest;
            first
        };
        self.records.iter().map(move |record| match *record {
            Record::Narrow(signal, value) => BatchEntry::Number(signal, value.into()),
            Record::Wide(signal) => BatchEntry::Number(signal, wide()),
            Record::Bytes(signal, length) => BatchEntry::Bytes(signal, some(length)),
            Record::Stem(length) => BatchEntry::Stem(some(length)),
            Record::Numbered(signal, number) => BatchEntry::Numbered(signal, number),
            Record::Happens(signal) => BatchEntry::Happens(signal),
            Record::Deferred => BatchEntry::Deferred(deferred.next().expect("one for each such record")),
            Record::Tick(cycle) => BatchEntry::Tick(cycle),
            Record::End(time) => BatchEntry::End(time),
        })
    }
}
