//! Signals inside a design: Verilator's wave writer declares them as text, and reports changes as numbers.

use std::ffi::{c_char, c_void};
use std::ptr::{self, NonNull};

use atoms_model::port::{In, Out, Probe};

use crate::{Library, RtlError};

/// A signal of the design, or a field of a signal that has fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DesignSignal {
    /// Instances from the top module on, and then the signals that contain the field.
    pub scopes: Vec<String>,
    /// Name, with the index of an element: `head_q`, `rd_q[3]`.
    pub name: String,
    /// Width in bits, at most 128. Wider signals are left out.
    pub bits: u32,
    /// Index of the first signal in the list that is the same wire. `None` for that first signal itself.
    pub same_as: Option<usize>,
    /// Number of the wire in changes. The numbers have no large gaps.
    pub code: usize,
}

impl DesignSignal {
    /// Returns scopes and name, joined by points, such as `atoms_unit.u_issue.op_q`.
    pub fn path(&self) -> String {
        self.scopes.iter().chain([&self.name]).map(String::as_str).collect::<Vec<_>>().join(".")
    }
}

#[derive(Debug)]
pub(crate) struct Signals {
    opened: NonNull<c_void>,
    list: Vec<DesignSignal>,
    /// Index in `list` by code. `None` for a code that the list does not have.
    places: Vec<Option<u32>>,
    /// Changes of the last cycle. Empty before the first cycle.
    changed: (*const c_char, usize),
}

/// Decodes value changes of [`Rtl::changes_bytes`](crate::Rtl::changes_bytes): words of 32 bits, in the
/// format that `build/shim/records.h` describes. Calls `each` with the [code](DesignSignal::code) of a signal
/// and its new value. The code may belong to no signal of the list.
pub fn read_changes(bytes: &[u8], mut each: impl FnMut(usize, u128)) {
    let mut rest = bytes.as_chunks::<4>().0;
    while let [head, behind @ ..] = rest {
        let head = u32::from_ne_bytes(*head) as usize;
        let Some((words, behind)) = behind.split_at_checked(head & 7) else { return };
        rest = behind;
        let value = match words {
            [word] => u32::from_ne_bytes(*word).into(),
            _ => {
                words.iter().rev().fold(0, |value, word| value << 32 | u128::from(u32::from_ne_bytes(*word)))
            }
        };
        each(head >> 3, value);
    }
}

impl Signals {
    /// Opens the signals of the model at `handle`.
    ///
    /// # Safety
    /// `handle` is a live model of `library`.
    pub(crate) unsafe fn open(library: &Library, handle: NonNull<c_void>) -> Result<Self, RtlError> {
        let open = library.api().open_signals.ok_or(RtlError::NoWaves)?;
        let (mut text, mut length) = (ptr::null(), 0);
        // SAFETY: the handle is live (the caller's promise), both pointers are to locals.
        let opened = unsafe { open(handle.as_ptr(), &mut text, &mut length) };
        let opened = NonNull::new(opened)
            .ok_or_else(|| RtlError::Failed("the signals of the design cannot be listed".to_owned()))?;
        // SAFETY: where it succeeds, the shim gives `length` bytes that stay until its next call.
        let text = unsafe { bytes(text, length) };
        let (list, places) = declarations(&String::from_utf8_lossy(text));
        Ok(Self { opened, list, places, changed: (ptr::null(), 0) })
    }

    /// Closes the signals of the model.
    ///
    /// # Safety
    /// `handle` is the live model that it was opened with.
    pub(crate) unsafe fn close(self, library: &Library, handle: NonNull<c_void>) {
        if let Some(close) = library.api().close_signals {
            // SAFETY: both are live, the caller says.
            unsafe { close(handle.as_ptr(), self.opened.as_ptr()) };
        }
    }

    /// Runs a cycle of the model. Returns the status.
    ///
    /// # Safety
    /// `handle` is the live model that it was opened with.
    pub(crate) unsafe fn cycle(
        &mut self,
        library: &Library,
        handle: NonNull<c_void>,
        (input, out, probe): (&In, &mut Out, &mut Probe),
    ) -> Result<i32, RtlError> {
        let cycle = library.api().cycle_signals.ok_or(RtlError::NoWaves)?;
        let (mut changed, mut length) = (ptr::null(), 0);
        // SAFETY: both are live, the caller says; structs as in `Rtl::cycle`; both pointers are to locals.
        let status = unsafe {
            cycle(handle.as_ptr(), self.opened.as_ptr(), input, out, probe, &mut changed, &mut length)
        };
        self.changed = (changed, length);
        Ok(status)
    }

    pub(crate) fn list(&self) -> &[DesignSignal] {
        &self.list
    }

    pub(crate) fn changes(&self) -> Vec<SignalChange> {
        let mut changes = Vec::new();
        read_changes(self.changed(), |code, value| {
            let place = self.places.get(code).copied().flatten();
            changes.extend(place.map(|place| SignalChange { signal: place as usize, value }));
        });
        changes
    }

    pub(crate) fn changed(&self) -> &[u8] {
        let (bytes, length) = self.changed;
        // SAFETY: the shim gave `length` bytes that stay until its next call with `opened`, and each needs `self` mutably,
        // or consumes it.
        unsafe { self::bytes(bytes, length) }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignalChange {
    /// Index in the list of signals. For a wire with several names, the index of the first one.
    pub signal: usize,
    pub value: u128,
}

/// # Safety
/// `text` points to `length` bytes that outlive the use of the result, or `length` is 0.
unsafe fn bytes<'a>(text: *const c_char, length: usize) -> &'a [u8] {
    if length == 0 {
        return &[];
    }
    // SAFETY: as the caller says.
    unsafe { std::slice::from_raw_parts(text.cast(), length) }
}

/// Returns the number of a code: base 94 with digits from `!` on, the lowest first, without gaps.
fn number(code: &[u8]) -> usize {
    let digit = |byte: &u8| usize::from(byte.wrapping_sub(b'!' - 1));
    code.iter().rev().fold(0, |number, byte| number * 94 + digit(byte)).wrapping_sub(1)
}

/// Returns the signals that the header of a VCD text declares below the top module, and the first index for
/// each code. Verilator puts its own scope around the top module.
fn declarations(text: &str) -> (Vec<DesignSignal>, Vec<Option<u32>>) {
    let (mut list, mut by_code) = (Vec::new(), Vec::new());
    let mut scopes: Vec<String> = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["$scope", _, name, "$end"] => scopes.push(name.to_owned()),
            ["$upscope", ..] => drop(scopes.pop()),
            ["$var", _, bits, code, name, ..] if scopes.len() > 1 => {
                // No signal of ours is wider: structs and arrays are declared by their fields.
                let Some(bits) = bits.parse().ok().filter(|bits| *bits <= u128::BITS) else { continue };
                let number = number(code.as_bytes());
                if by_code.len() <= number {
                    by_code.resize(number + 1, None);
                }
                let same_as = by_code[number].map(|at: u32| at as usize);
                by_code[number].get_or_insert(list.len() as u32);
                list.push(DesignSignal {
                    scopes: scopes[1..].to_vec(),
                    name: name.to_owned(),
                    bits,
                    same_as,
                    code: number,
                });
            }
            _ => {}
        }
    }
    (list, by_code)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "\
$scope module TOP $end
 $var wire 1 # clk_i $end
 $scope module top $end
  $var wire 1 # clk_i $end
  $var wire 4 ! count_q [3:0] $end
  $scope module u_queue $end
   $var wire 4 ! level [3:0] $end
   $scope module entry_q[0] $end
    $var wire 8 !! tag [7:0] $end
   $upscope $end
  $upscope $end
 $upscope $end
$upscope $end
$enddefinitions $end
";

    #[test]
    fn signals_have_paths_and_one_wire_is_one() {
        let (list, by_code) = declarations(HEAD);
        let paths: Vec<_> = list.iter().map(DesignSignal::path).collect();
        assert_eq!(paths, ["top.clk_i", "top.count_q", "top.u_queue.level", "top.u_queue.entry_q[0].tag"]);
        assert_eq!(list.iter().map(|signal| signal.same_as).collect::<Vec<_>>(), [None, None, Some(1), None]);
        assert_eq!((by_code[0], by_code[2], by_code[94]), (Some(1), Some(0), Some(3)));
        assert_eq!(list.iter().map(|signal| signal.code).collect::<Vec<_>>(), [2, 0, 0, 94]);
    }

    #[test]
    fn changes_are_read() {
        let wide = 0x8123_4567_89ab_cdef_0f1e_2d3c_4b5a_6978_u128;
        let expected = [(2, 1, 1), (0, wide >> 64, 2), (94, wide >> 32, 3), (7, 5, 1), (0, wide, 4)];
        let mut words = Vec::new();
        for (code, value, count) in expected {
            words.push((code as u32) << 3 | count);
            words.extend((0..count).map(|at| (value >> (32 * at)) as u32));
        }
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let read = |bytes: &[u8]| {
            let mut changes = Vec::new();
            read_changes(bytes, |code, value| changes.push((code, value)));
            changes
        };
        let expected = expected.map(|(code, value, _)| (code, value));
        assert_eq!(read(&bytes), expected);
        assert_eq!(read(&bytes[..bytes.len() - 1]), expected[..4], "cut");
        assert_eq!(read(&[]), []);
    }
}
