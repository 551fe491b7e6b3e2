//! The unit's ports as one list. The Rust structs, the C++ structs of the Verilator binding, the names in a
//! mismatch report and the signals in a wave are derived from this list.
//!
//! The structs are `#[repr(C)]` and sized for the largest configuration. In a smaller configuration RTL and
//! model leave the upper lanes and banks zero, so that whole structs can be compared.
//! An RTL port has the field name with `_i` or `_o`; the fields of [`Probe`] also have the prefix `probe_`.

/// Lanes of the largest configuration.
pub const MAX_LANES: usize = 32;
/// Banks of the largest configuration.
pub const MAX_BANKS: usize = 64;

/// Number of elements of a field that a configuration uses, and bits per element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One value of this many bits.
    Scalar(u32),
    /// One bit per lane.
    LaneMask,
    /// One bit per bank.
    BankMask,
    /// One element of this many bits per lane, lane 0 first.
    PerLane(u32),
    /// One element of this many bits per bank, bank 0 first.
    PerBank(u32),
}

/// Format of a value in a wave viewer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Radix {
    /// Binary for one bit, else hexadecimal.
    Number,
    /// The name of an [`atoms_ops::Op`].
    Op,
    /// The name of an [`atoms_ops::Size`].
    Size,
    /// The name of an [`atoms_ops::Fault`].
    Fault,
}

/// One field of a port struct.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Field name: the RTL port name without prefix and suffix.
    pub name: &'static str,
    /// Number of elements, and bits per element.
    pub shape: Shape,
    /// Format of a value in a wave viewer.
    pub radix: Radix,
    /// Bytes per element in the Rust and C++ structs.
    pub element_bytes: usize,
    /// Offset in the struct, in bytes.
    pub offset: usize,
}

/// Access to a port struct by field number. Each field has one element or more.
pub trait Pins {
    /// Returns element `index` of field number `field`, zero-extended.
    fn element(&self, field: usize, index: usize) -> u128;

    /// Sets an element. Bits of `value` above the element's type in the struct are dropped.
    fn set_element(&mut self, field: usize, index: usize, value: u128);

    /// Calls `each` with field, index and zero-extended value of each element that differs from `before`.
    /// Without `before`, calls `each` for every element.
    fn changes(&self, before: Option<&Self>, each: impl FnMut(usize, usize, u128));
}

macro_rules! ports {
    ($(#[$doc:meta])* $name:ident, $fields:ident $(, $scalars:ident)? { $( $(#[$fdoc:meta])* $field:ident: $ty:tt $shape:expr, $radix:ident; )* }) => {
        $(#[$doc])*
        #[repr(C)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name { $( $(#[$fdoc])* pub $field: ports!(@ty $ty), )* }

        /// Field names; the discriminant is the field number in the list of fields.
        #[allow(non_camel_case_types, missing_docs)] // the struct documents the fields
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $fields { $( $field, )* }

        impl $fields {
            /// Every field, in order of declaration.
            pub const ALL: &'static [$fields] = &[ $( $fields::$field, )* ];

            /// Entry of the field in the port list.
            pub fn field(self) -> &'static Field {
                &$name::FIELDS[self as usize]
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $( $field: ports!(@zero $ty), )* }
            }
        }

        impl $name {
            /// The fields, in order of declaration.
            pub const FIELDS: &'static [Field] = &[ $( Field {
                name: stringify!($field),
                shape: $shape,
                radix: Radix::$radix,
                element_bytes: ports!(@bytes $ty),
                offset: std::mem::offset_of!($name, $field),
            }, )* ];
        }

        ports!(@scalars $name [$($scalars)?] { $( $field: $ty; )* });

        impl Pins for $name {
            fn element(&self, field: usize, index: usize) -> u128 {
                let mut _at = 0;
                $( if field == _at { return ports!(@get self, $field, index, $ty); } _at += 1; )*
                panic!("{} has {} fields, asked for field {field}", stringify!($name), Self::FIELDS.len())
            }

            fn set_element(&mut self, field: usize, index: usize, value: u128) {
                let mut _at = 0;
                $( if field == _at { return ports!(@set self, $field, index, value, $ty); } _at += 1; )*
                panic!("{} has {} fields, asked for field {field}", stringify!($name), Self::FIELDS.len())
            }

            fn changes(&self, before: Option<&Self>, mut each: impl FnMut(usize, usize, u128)) {
                let mut _at = 0;
                $( ports!(@changes self, before, $field, _at, each, $ty); _at += 1; )*
            }
        }
    };
    (@ty [$e:ty; $n:expr]) => { [$e; $n] };
    (@ty $e:ty) => { $e };
    (@scalars $name:ident [] { $( $field:ident: $ty:tt; )* }) => {};
    (@scalars $name:ident [$scalars:ident] { $( $field:ident: $ty:tt; )* }) => {
        /// Scalar fields of the struct; array fields are `()` and take no space.
        #[allow(missing_docs)] // the struct documents the fields
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $scalars { $( pub $field: ports!(@scalar $ty), )* }

        impl $name {
            /// Copies the scalar fields.
            #[inline]
            pub fn scalars(&self) -> $scalars {
                $scalars { $( $field: ports!(@scalar_of self, $field, $ty), )* }
            }

            /// Sets the scalar fields; arrays keep their values.
            #[inline]
            pub fn set_scalars(&mut self, to: &$scalars) {
                $( ports!(@set_scalar self, $field, to, $ty); )*
            }
        }
    };
    (@scalar [$e:ty; $n:expr]) => { () };
    (@scalar $e:ty) => { $e };
    (@scalar_of $s:ident, $f:ident, [$e:ty; $n:expr]) => { () };
    (@scalar_of $s:ident, $f:ident, $e:ty) => { $s.$f };
    (@set_scalar $s:ident, $f:ident, $to:ident, [$e:ty; $n:expr]) => {};
    (@set_scalar $s:ident, $f:ident, $to:ident, $e:ty) => { $s.$f = $to.$f; };
    (@zero [$e:ty; $n:expr]) => { [0; $n] };
    (@zero $e:ty) => { 0 };
    (@bytes [$e:ty; $n:expr]) => { size_of::<$e>() };
    (@bytes $e:ty) => { size_of::<$e>() };
    (@changes $s:ident, $b:ident, $f:ident, $at:ident, $each:ident, [$e:ty; $n:expr]) => {
        // Compare eight elements at a time: most elements do not change, and those beyond the configuration
        // never do.
        for (eight, now) in $s.$f.as_chunks::<8>().0.iter().enumerate() {
            let before = $b.map(|before| &before.$f.as_chunks::<8>().0[eight]);
            if before != Some(now) {
                for (index, value) in now.iter().enumerate() {
                    if before.is_none_or(|before| before[index] != *value) {
                        $each($at, 8 * eight + index, *value as u128);
                    }
                }
            }
        }
    };
    (@changes $s:ident, $b:ident, $f:ident, $at:ident, $each:ident, $e:ty) => {
        if $b.is_none_or(|before| before.$f != $s.$f) {
            $each($at, 0, $s.$f as u128);
        }
    };
    (@get $s:ident, $f:ident, $i:ident, [$e:ty; $n:expr]) => { $s.$f[$i] as u128 };
    (@set $s:ident, $f:ident, $i:ident, $v:ident, [$e:ty; $n:expr]) => { $s.$f[$i] = $v as $e };
    (@set $s:ident, $f:ident, $i:ident, $v:ident, $e:ty) => {{ let _ = $i; $s.$f = $v as $e }};
    (@get $s:ident, $f:ident, $i:ident, $e:ty) => {{ let _ = $i; $s.$f as u128 }};
}

ports! {
    /// Inputs of the unit in one cycle.
    In, InField, InScalars {
        /// Operand B per lane: addend, bound, new value, or the value compared against.
        req_b: [u128; MAX_LANES] Shape::PerLane(128), Number;
        /// Operand C per lane: the new value of CAS and CAST. For MBAR.TRY_WAIT the low 32 bits hold the
        /// limit in cycles, with 0 for TryWaitLimit (spec 6.10); the winner's limit applies.
        req_c: [u128; MAX_LANES] Shape::PerLane(128), Number;
        /// Cluster request: operand B, as in `req_b`.
        cl_b: u128 Shape::Scalar(128), Number;
        /// Cluster request: operand C, as in `req_c`.
        cl_c: u128 Shape::Scalar(128), Number;
        /// Register Ra per lane, before scaling (spec 2.1, 2.2).
        req_ra: [u32; MAX_LANES] Shape::PerLane(32), Number;
        /// Active lanes, after the guard (spec 2.6).
        req_mask: u32 Shape::LaneMask, Number;
        /// 24-bit immediate of the address.
        req_imm: u32 Shape::Scalar(24), Number;
        /// Uniform register of the address; 0 if the instruction has none.
        req_ur: u32 Shape::Scalar(32), Number;
        /// Cluster request: byte offset inside the CTA's allocation, 24 bits.
        cl_addr: u32 Shape::Scalar(24), Number;
        /// CTA table write: size of the allocation in bytes.
        cta_size: u32 Shape::Scalar(25), Number;
        /// CTA table write: first row of the allocation in every bank.
        cta_base: u16 Shape::Scalar(16), Number;
        /// CTA table write: rank of the CTA in its cluster (spec 1.4).
        cta_rank: u8 Shape::Scalar(8), Number;
        /// CTA table write: CTA slot that is written.
        cta_slot: u8 Shape::Scalar(4), Number;
        /// CTA table write: 1 gives the slot an allocation, 0 removes it.
        cta_enable: u8 Shape::Scalar(1), Number;
        /// CTA table write: valid (handshake with `cta_ready`).
        cta_valid: u8 Shape::Scalar(1), Number;
        /// Synchronous reset, active low. Resets every register; memory keeps its content.
        rst_n: u8 Shape::Scalar(1), Number;
        /// Warp request: valid (handshake with `req_ready`).
        req_valid: u8 Shape::Scalar(1), Number;
        /// Operation code; may be illegal.
        req_op: u8 Shape::Scalar(5), Op;
        /// Size code; may be illegal.
        req_size: u8 Shape::Scalar(4), Size;
        /// 1 if Rd is RZ: the lanes want no result and get none.
        req_red: u8 Shape::Scalar(1), Number;
        /// 1 for the absolute form: Ra is ignored and the immediate is zero-extended (spec 2.1).
        req_absolute: u8 Shape::Scalar(1), Number;
        /// log2 of the scale factor on Ra: 0, 2, 3 or 4; other codes act as 0 (spec 2.2).
        req_scale: u8 Shape::Scalar(3), Number;
        /// Warp tag; the response returns it.
        req_tag: u8 Shape::Scalar(6), Number;
        /// CTA slot of the warp.
        req_slot: u8 Shape::Scalar(4), Number;
        /// Warp response: ready (handshake with `rsp_valid`).
        rsp_ready: u8 Shape::Scalar(1), Number;
        /// Cluster request: valid (handshake with `cl_ready`).
        cl_valid: u8 Shape::Scalar(1), Number;
        /// Cluster request: operation code; may be illegal.
        cl_op: u8 Shape::Scalar(5), Op;
        /// Cluster request: size code; may be illegal.
        cl_size: u8 Shape::Scalar(4), Size;
        /// Cluster request: 1 if no result is wanted. Such a request is posted, except a compare-and-store:
        /// without a fault it gets no response (spec 4.7).
        cl_red: u8 Shape::Scalar(1), Number;
        /// Cluster request: tag; the response returns it.
        cl_tag: u8 Shape::Scalar(6), Number;
        /// Cluster request: CTA slot that owns the address.
        cl_slot: u8 Shape::Scalar(4), Number;
        /// Cluster response: ready (handshake with `cl_rsp_valid`).
        cl_rsp_ready: u8 Shape::Scalar(1), Number;
        /// Wake-up: ready (handshake with `wake_valid`).
        wake_ready: u8 Shape::Scalar(1), Number;
    }
}

ports! {
    /// Outputs of the unit in one cycle, given the inputs of that cycle.
    Out, OutField {
        /// Warp response: Rd per lane. Zero for inactive lanes, and for all lanes after a fault.
        rsp_rd: [u128; MAX_LANES] Shape::PerLane(128), Number;
        /// Cluster response: result for Rd; zero after a fault.
        cl_rsp_rd: u128 Shape::Scalar(128), Number;
        /// Warp response: lanes whose CAS, CAST or CAST.SPIN stored (spec 3.2), or whose phase is complete
        /// (spec 6.5).
        rsp_pred: u32 Shape::LaneMask, Number;
        /// Wake-up: lanes whose phase is complete. All active lanes, or no lane after a timeout.
        wake_pred: u32 Shape::LaneMask, Number;
        /// Address of the lowest faulting lane as that lane formed it, 32 bits; 0 without a fault.
        rsp_fault_addr: u32 Shape::Scalar(32), Number;
        /// Cluster response: faulting address; 0 without a fault.
        cl_rsp_fault_addr: u32 Shape::Scalar(32), Number;
        /// Warp request: ready. Depends on registers only.
        req_ready: u8 Shape::Scalar(1), Number;
        /// Warp response: valid (handshake with `rsp_ready`).
        rsp_valid: u8 Shape::Scalar(1), Number;
        /// Warp response: tag of the request.
        rsp_tag: u8 Shape::Scalar(6), Number;
        /// Warp response: fault code.
        rsp_fault: u8 Shape::Scalar(2), Fault;
        /// Lowest faulting lane; 0 without a fault.
        rsp_fault_lane: u8 Shape::Scalar(5), Number;
        /// Passes of the request: 0 after a fault or without active lanes, else 1 to 32 (spec 4.3).
        rsp_passes: u8 Shape::Scalar(6), Number;
        /// Cluster request: ready. Depends on registers only.
        cl_ready: u8 Shape::Scalar(1), Number;
        /// Cluster response: valid (handshake with `cl_rsp_ready`).
        cl_rsp_valid: u8 Shape::Scalar(1), Number;
        /// Cluster response: tag of the request.
        cl_rsp_tag: u8 Shape::Scalar(6), Number;
        /// Cluster response: 1 if CAS, CAST or CAST.SPIN stored.
        cl_rsp_pred: u8 Shape::Scalar(1), Number;
        /// Cluster response: fault code; 0 without a fault.
        cl_rsp_fault: u8 Shape::Scalar(2), Fault;
        /// Wake-up: valid. A wake-up answers a suspended MBAR.TRY_WAIT, instead of a warp response.
        wake_valid: u8 Shape::Scalar(1), Number;
        /// Wake-up: tag of the request.
        wake_tag: u8 Shape::Scalar(6), Number;
        /// CTA table write: ready. High if no request of slot `cta_slot` is in flight.
        cta_ready: u8 Shape::Scalar(1), Number;
        /// The table write accepted in the previous cycle was refused: its bytes do not exist or belong to
        /// another slot. The slot now has no allocation.
        cta_reject: u8 Shape::Scalar(1), Number;
    }
}

ports! {
    /// Internal signals of the unit in one cycle, for lockstep and waves. They are not part of the
    /// synthesized interface. Fields of inactive banks and of absent passes are zero.
    Probe, ProbeField {
        /// Banks written at the next clock edge.
        wr_en: u64 Shape::BankMask, Number;
        /// Banks that the pass issued in this cycle uses.
        win_valid: u64 Shape::BankMask, Number;
        /// First banks of the mbarrier objects that complete a phase at the next clock edge.
        completed: u64 Shape::BankMask, Number;
        /// Word written, per bank; zero if the operation does not write the bank.
        wr_data: [u32; MAX_BANKS] Shape::PerBank(32), Number;
        /// Lanes that the pass issued in this cycle serves.
        pass_served: u32 Shape::LaneMask, Number;
        /// Lanes of the request at issue that wait for a pass.
        issue_pending: u32 Shape::LaneMask, Number;
        /// Entries of the waiter table that hold a suspended request.
        wait_suspended: u32 Shape::Scalar(32), Number;
        /// Entries of the waiter table that are woken or timed out, and not yet answered.
        wait_ready: u32 Shape::Scalar(32), Number;
        /// Row of the word written, per bank; zero if the operation does not write the bank.
        wr_row: [u16; MAX_BANKS] Shape::PerBank(16), Number;
        /// Pipeline stages that hold a pass; bit 0 reads the banks, bit RmwLatency writes them.
        pipe_valid: u16 Shape::Scalar(16), Number;
        /// Operation code of the request at issue; 0 without a request.
        issue_op: u8 Shape::Scalar(8), Op;
        /// Tag of the request at issue; 0 without a request.
        issue_tag: u8 Shape::Scalar(8), Number;
        /// Winner per bank of the pass issued in this cycle.
        win_lane: [u8; MAX_BANKS] Shape::PerBank(8), Number;
        /// Requests in the warp queue.
        queue_count: u8 Shape::Scalar(8), Number;
        /// Requests in the cluster queue.
        cl_count: u8 Shape::Scalar(8), Number;
        /// 1 if a request is at issue.
        issue_valid: u8 Shape::Scalar(1), Number;
        /// 1 if the request at issue came through the cluster port.
        issue_cluster: u8 Shape::Scalar(1), Number;
        /// 1 if a pass moves from issue to the pipeline at the next clock edge.
        pass_fire: u8 Shape::Scalar(1), Number;
        /// 1 if the pass at issue is the last pass of its request.
        pass_last: u8 Shape::Scalar(1), Number;
        /// Number of the pass at issue within its request, from 0.
        pass_index: u8 Shape::Scalar(8), Number;
        /// 1 if the pass at issue waits for a word that an older pass has yet to write (hazard).
        hazard: u8 Shape::Scalar(1), Number;
        /// 1 if the pipeline stalls because a response is not accepted.
        stall: u8 Shape::Scalar(1), Number;
        /// First lane in the order of the rotating winner policy.
        rotate: u8 Shape::Scalar(8), Number;
        /// 1 if the request in the last stage is suspended at the next clock edge.
        wait_enter: u8 Shape::Scalar(1), Number;
        /// 1 if a cluster request finishes at the next clock edge.
        cl_done: u8 Shape::Scalar(1), Number;
        /// 1 if the finished cluster request owes a response.
        cl_owes: u8 Shape::Scalar(1), Number;
        /// Responses that the cluster port owes, counted from issue until they are accepted.
        cl_owed: u8 Shape::Scalar(8), Number;
    }
}
