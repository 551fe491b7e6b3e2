//! What a trace is told, on its way to the thread that writes it.

/// Bytes of a batch from which on it is handed over: few enough that all that are on their way stay in the cache.
const FULL_BYTES: usize = 1 << 16;

/// What consecutive cycles set, in order.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    records: Vec<Record>,
    /// Values that do not fit into a record, and bytes and numbers that records say the count of, in their order.
    wide: Vec<u128>,
    bytes: Vec<u8>,
    numbers: Vec<DeferredNumber>,
}

/// A number by a place that means something to [`Deferred`](crate::Deferred) alone; `None` where it has no value.
pub type DeferredNumber = (u32, Option<u128>);

/// One entry of a batch, kept small: a cycle has hundreds.
#[derive(Clone, Copy, Debug)]
enum Record {
    Narrow(u32, u64),
    Wide(u32),
    NarrowChange { signal: u32, pair: bool, value: u64 },
    WideChange { signal: u32, pair: bool },
    Bytes(u32, u32),
    Stem(u32),
    Numbered(u32, u32),
    Happens(u32),
    Deferred { bytes: u32, numbers: u32 },
    Tick(u64),
    End(u64),
}

/// An entry of a batch, as the thread takes it. Signals go by number.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step<'a> {
    /// A signal of at most 128 bits is set.
    Number(u32, u128),
    /// A signal of at most 128 bits is set to another value than it has; or both sides of a pair, this being the left.
    Change { signal: u32, pair: bool, value: u128 },
    /// A signal of any width, or a text.
    Bytes(u32, &'a [u8]),
    /// How texts begin that end with a number.
    Stem(&'a [u8]),
    /// A text: the last stem, and this number.
    Numbered(u32, u32),
    /// An event happens.
    Happens(u32),
    /// Others are set as [`Deferred`](crate::Deferred) says.
    Deferred(&'a [u8], &'a [DeferredNumber]),
    /// This cycle is over.
    Tick(u64),
    /// Nothing follows but, maybe, what ends at this time.
    End(u64),
}

impl Batch {
    pub(crate) fn number(&mut self, signal: u32, value: u128) {
        self.records.push(match u64::try_from(value) {
            Ok(value) => Record::Narrow(signal, value),
            Err(_) => {
                self.wide.push(value);
                Record::Wide(signal)
            }
        });
    }

    pub(crate) fn change(&mut self, signal: u32, pair: bool, value: u128) {
        self.records.push(match u64::try_from(value) {
            Ok(value) => Record::NarrowChange { signal, pair, value },
            Err(_) => {
                self.wide.push(value);
                Record::WideChange { signal, pair }
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

    pub(crate) fn deferred(&mut self, bytes: &[u8], numbers: &[DeferredNumber]) {
        self.bytes.extend_from_slice(bytes);
        self.numbers.extend_from_slice(numbers);
        self.records.push(Record::Deferred { bytes: bytes.len() as u32, numbers: numbers.len() as u32 });
    }

    pub(crate) fn tick(&mut self, cycle: u64) {
        self.records.push(Record::Tick(cycle));
    }

    pub(crate) fn end(&mut self, time: u64) {
        self.records.push(Record::End(time));
    }

    /// Worth handing over.
    pub(crate) fn is_full(&self) -> bool {
        let Batch { records, wide, bytes, numbers } = self;
        size_of_val(&records[..]) + size_of_val(&wide[..]) + bytes.len() + size_of_val(&numbers[..])
            >= FULL_BYTES
    }

    pub(crate) fn clear(&mut self) {
        let Batch { records, wide, bytes, numbers } = self;
        records.clear();
        wide.clear();
        bytes.clear();
        numbers.clear();
    }

    /// The entries, in order.
    pub(crate) fn steps(&self) -> impl Iterator<Item = Step<'_>> {
        let (mut wide, mut bytes, mut numbers) = (self.wide.iter(), &self.bytes[..], &self.numbers[..]);
        let mut wide = move || *wide.next().expect("one for each such record");
        let mut some = move |count: u32| {
            let (first, rest) = bytes.split_at(count as usize);
            bytes = rest;
            first
        };
        self.records.iter().map(move |record| match *record {
            Record::Narrow(signal, value) => Step::Number(signal, value.into()),
            Record::Wide(signal) => Step::Number(signal, wide()),
            Record::NarrowChange { signal, pair, value } => {
                Step::Change { signal, pair, value: value.into() }
            }
            Record::WideChange { signal, pair } => Step::Change { signal, pair, value: wide() },
            Record::Bytes(signal, length) => Step::Bytes(signal, some(length)),
            Record::Stem(length) => Step::Stem(some(length)),
            Record::Numbered(signal, number) => Step::Numbered(signal, number),
            Record::Happens(signal) => Step::Happens(signal),
            Record::Deferred { bytes, numbers: count } => {
                let (first, rest) = numbers.split_at(count as usize);
                numbers = rest;
                Step::Deferred(some(bytes), first)
            }
            Record::Tick(cycle) => Step::Tick(cycle),
            Record::End(time) => Step::End(time),
        })
    }
}
