//! The unit's ports: one list, from which the Rust structs, the C++ structs of the Verilator
//! binding, the names in a mismatch report and the signals in a wave are derived.
//!
//! The structs are `#[repr(C)]` and sized for the largest configuration; a smaller one leaves the
//! upper lanes and banks zero on both sides, so that two machines compare struct by struct.
//! RTL port names are the field names with `_i` or `_o` (and `probe_` before those of [`Probe`]).

/// Lanes of the largest configuration.
pub const MAX_LANES: usize = 32;
/// Banks of the largest configuration.
pub const MAX_BANKS: usize = 64;

/// How many elements of a field a configuration uses, and how wide one is.
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

/// What a viewer should print instead of a number.
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
    /// Field name; with prefix and suffix, the RTL port's.
    pub name: &'static str,
    /// Elements and width.
    pub shape: Shape,
    /// How to print a value.
    pub radix: Radix,
    /// Bytes of one element in the Rust and C++ structs.
    pub element_bytes: usize,
    /// Byte offset in the struct.
    pub offset: usize,
}

/// A port struct as a list of fields, each with one element or more.
pub trait Pins {
    /// Element `index` of field `field`, an index into the list of fields, widened.
    fn element(&self, field: usize, index: usize) -> u128;

    /// Sets an element, to as many low bits of `value` as the struct has for it.
    fn set_element(&mut self, field: usize, index: usize, value: u128);

    /// Gives field, index and value, widened, of each element that is not as in `before`; without it, of every
    /// element.
    fn changes(&self, before: Option<&Self>, each: impl FnMut(usize, usize, u128));
}

macro_rules! ports {
    ($(#[$doc:meta])* $name:ident, $fields:ident $(, $scalars:ident)? { $( $(#[$fdoc:meta])* $field:ident: $ty:tt $shape:expr, $radix:ident; )* }) => {
        $(#[$doc])*
        #[repr(C)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name { $( $(#[$fdoc])* pub $field: ports!(@ty $ty), )* }

        /// The fields by name; each is an index into the list of fields.
        #[allow(non_camel_case_types, missing_docs)] // named and described as in the struct
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $fields { $( $field, )* }

        impl $fields {
            /// Every field, in order of declaration.
            pub const ALL: &'static [$fields] = &[ $( $fields::$field, )* ];

            /// What the port list says of it.
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
        /// The fields of one element; arrays take no place.
        #[allow(missing_docs)] // named and described as in the struct
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $scalars { $( pub $field: ports!(@scalar $ty), )* }

        impl $name {
            /// The fields of one element.
            #[inline]
            pub fn scalars(&self) -> $scalars {
                $scalars { $( $field: ports!(@scalar_of self, $field, $ty), )* }
            }

            /// Sets the fields of one element.
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
        // Eight at a time: most are as they were, above all those that a configuration has not.
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
    /// Everything the unit reads in one cycle.
    In, InField, InScalars {
        /// Operand B per lane: addend, bound, new value, or the value compared against.
        req_b: [u128; MAX_LANES] Shape::PerLane(128), Number;
        /// Operand C per lane: the new value of CAS and CAST; for MBAR.TRY_WAIT, in its low 32 bits, the
        /// cycles to wait at most, 0 for TryWaitLimit (spec 6.10). The winner's counts.
        req_c: [u128; MAX_LANES] Shape::PerLane(128), Number;
        /// Operand B of the cluster request.
        cl_b: u128 Shape::Scalar(128), Number;
        /// Operand C of the cluster request.
        cl_c: u128 Shape::Scalar(128), Number;
        /// Register Ra per lane, before scaling (spec 2.1, 2.2).
        req_ra: [u32; MAX_LANES] Shape::PerLane(32), Number;
        /// Lanes that take part, after the guard (spec 2.6).
        req_mask: u32 Shape::LaneMask, Number;
        /// 24-bit immediate of the address.
        req_imm: u32 Shape::Scalar(24), Number;
        /// Uniform register of the address; 0 where the instruction names none.
        req_ur: u32 Shape::Scalar(32), Number;
        /// Cluster request: byte offset inside the CTA's allocation, 24 bits.
        cl_addr: u32 Shape::Scalar(24), Number;
        /// CTA table write: bytes of the allocation.
        cta_size: u32 Shape::Scalar(25), Number;
        /// CTA table write: first row of the allocation in every bank.
        cta_base: u16 Shape::Scalar(16), Number;
        /// CTA table write: rank of the CTA in its cluster (spec 1.4).
        cta_rank: u8 Shape::Scalar(8), Number;
        /// CTA table write: slot.
        cta_slot: u8 Shape::Scalar(4), Number;
        /// CTA table write: 1 gives the slot an allocation, 0 takes it away.
        cta_enable: u8 Shape::Scalar(1), Number;
        /// CTA table write: valid.
        cta_valid: u8 Shape::Scalar(1), Number;
        /// Low resets every register (memory keeps its content).
        rst_n: u8 Shape::Scalar(1), Number;
        /// Warp request: valid.
        req_valid: u8 Shape::Scalar(1), Number;
        /// Operation code, an [`atoms_ops::Op`] or an illegal one.
        req_op: u8 Shape::Scalar(5), Op;
        /// Size code, an [`atoms_ops::Size`] or an illegal one.
        req_size: u8 Shape::Scalar(4), Size;
        /// 1 when Rd is RZ: the lanes want no result, and none is given.
        req_red: u8 Shape::Scalar(1), Number;
        /// 1 in the absolute form: Ra does not count and the immediate is zero-extended (spec 2.1).
        req_absolute: u8 Shape::Scalar(1), Number;
        /// log2 of the factor on Ra: 0, 2, 3 or 4; other codes count as 0 (spec 2.2).
        req_scale: u8 Shape::Scalar(3), Number;
        /// Warp tag, given back with the response.
        req_tag: u8 Shape::Scalar(6), Number;
        /// CTA slot of the warp.
        req_slot: u8 Shape::Scalar(4), Number;
        /// Warp response: ready.
        rsp_ready: u8 Shape::Scalar(1), Number;
        /// Cluster request: valid.
        cl_valid: u8 Shape::Scalar(1), Number;
        /// Cluster request: operation code.
        cl_op: u8 Shape::Scalar(5), Op;
        /// Cluster request: size code.
        cl_size: u8 Shape::Scalar(4), Size;
        /// Cluster request: 1 when no result is wanted. But for compare-and-stores it is posted then: without a
        /// fault it gets no response (spec 4.7).
        cl_red: u8 Shape::Scalar(1), Number;
        /// Cluster request: tag, given back with the response.
        cl_tag: u8 Shape::Scalar(6), Number;
        /// Cluster request: CTA slot that owns the address.
        cl_slot: u8 Shape::Scalar(4), Number;
        /// Cluster response: ready.
        cl_rsp_ready: u8 Shape::Scalar(1), Number;
        /// Wake-up: ready.
        wake_ready: u8 Shape::Scalar(1), Number;
    }
}

ports! {
    /// Everything the unit drives in one cycle, given the inputs of that cycle.
    Out, OutField {
        /// Rd per lane; zero for lanes that took no part, and for all under a fault.
        rsp_rd: [u128; MAX_LANES] Shape::PerLane(128), Number;
        /// Cluster response: Rd.
        cl_rsp_rd: u128 Shape::Scalar(128), Number;
        /// Lanes whose CAS, CAST or CAST.SPIN stored (spec 3.2), or whose phase is complete (spec 6.5).
        rsp_pred: u32 Shape::LaneMask, Number;
        /// Wake-up: lanes whose phase is complete, all that took part or, when the limit has passed, none.
        wake_pred: u32 Shape::LaneMask, Number;
        /// Address of the first faulting lane as the lane formed it, 32 bits; 0 without a fault.
        rsp_fault_addr: u32 Shape::Scalar(32), Number;
        /// Cluster response: the faulting address; 0 without a fault.
        cl_rsp_fault_addr: u32 Shape::Scalar(32), Number;
        /// A warp request is taken this cycle if it is valid.
        req_ready: u8 Shape::Scalar(1), Number;
        /// Warp response: valid.
        rsp_valid: u8 Shape::Scalar(1), Number;
        /// Tag of the request answered.
        rsp_tag: u8 Shape::Scalar(6), Number;
        /// Fault code, an [`atoms_ops::Fault`].
        rsp_fault: u8 Shape::Scalar(2), Fault;
        /// Lowest faulting lane; 0 without a fault.
        rsp_fault_lane: u8 Shape::Scalar(5), Number;
        /// Passes the request took: 0 under a fault or without lanes, else 1 to 32 (spec 4.3).
        rsp_passes: u8 Shape::Scalar(6), Number;
        /// A cluster request is taken this cycle if it is valid.
        cl_ready: u8 Shape::Scalar(1), Number;
        /// Cluster response: valid.
        cl_rsp_valid: u8 Shape::Scalar(1), Number;
        /// Cluster response: tag of the request answered.
        cl_rsp_tag: u8 Shape::Scalar(6), Number;
        /// Cluster response: 1 when CAS, CAST or CAST.SPIN stored.
        cl_rsp_pred: u8 Shape::Scalar(1), Number;
        /// Cluster response: fault code.
        cl_rsp_fault: u8 Shape::Scalar(2), Fault;
        /// Wake-up: valid. It answers a MBAR.TRY_WAIT that was suspended, in place of a warp response.
        wake_valid: u8 Shape::Scalar(1), Number;
        /// Wake-up: tag of the request answered.
        wake_tag: u8 Shape::Scalar(6), Number;
        /// A CTA table write is taken this cycle if it is valid: no request of the slot is inside.
        cta_ready: u8 Shape::Scalar(1), Number;
        /// The table write taken in the cycle before named bytes that do not exist or belong to
        /// another slot, and was refused: the slot now has no allocation.
        cta_reject: u8 Shape::Scalar(1), Number;
    }
}

ports! {
    /// What happened inside the unit this cycle: for lockstep and waves, not part of the
    /// synthesized interface. Fields of banks and passes that did nothing read as zero.
    Probe, ProbeField {
        /// Banks written at the coming clock edge.
        wr_en: u64 Shape::BankMask, Number;
        /// Banks that the pass issued this cycle will work on.
        win_valid: u64 Shape::BankMask, Number;
        /// First banks of the mbarrier objects that complete a phase at the coming clock edge.
        completed: u64 Shape::BankMask, Number;
        /// Word written per bank; zero where the kernel writes nothing.
        wr_data: [u32; MAX_BANKS] Shape::PerBank(32), Number;
        /// Lanes the pass issued this cycle serves.
        pass_served: u32 Shape::LaneMask, Number;
        /// Lanes of the request at issue that still wait for a pass.
        issue_pending: u32 Shape::LaneMask, Number;
        /// Places of the table of waiters whose request is suspended.
        wait_suspended: u32 Shape::Scalar(32), Number;
        /// Places whose request is woken or out of time, and not yet answered.
        wait_ready: u32 Shape::Scalar(32), Number;
        /// Row of the word written per bank; zero where the kernel writes nothing.
        wr_row: [u16; MAX_BANKS] Shape::PerBank(16), Number;
        /// Pipeline stages that hold a pass; bit 0 reads the banks, bit RmwLatency writes them.
        pipe_valid: u16 Shape::Scalar(16), Number;
        /// Operation code of the request at issue; 0 when there is none.
        issue_op: u8 Shape::Scalar(8), Op;
        /// Tag of the request at issue; 0 when there is none.
        issue_tag: u8 Shape::Scalar(8), Number;
        /// Winning lane per bank of the pass issued this cycle.
        win_lane: [u8; MAX_BANKS] Shape::PerBank(8), Number;
        /// Requests in the warp queue.
        queue_count: u8 Shape::Scalar(8), Number;
        /// Requests in the cluster queue.
        cl_count: u8 Shape::Scalar(8), Number;
        /// A request is at issue.
        issue_valid: u8 Shape::Scalar(1), Number;
        /// The request at issue came through the cluster port.
        issue_cluster: u8 Shape::Scalar(1), Number;
        /// A pass leaves issue for the pipeline at the coming clock edge.
        pass_fire: u8 Shape::Scalar(1), Number;
        /// The pass at issue is the last of its request.
        pass_last: u8 Shape::Scalar(1), Number;
        /// Number of the pass at issue within its request, from 0.
        pass_index: u8 Shape::Scalar(8), Number;
        /// The pass at issue waits for a word that the pipeline has yet to write.
        hazard: u8 Shape::Scalar(1), Number;
        /// The pipeline stands still, since a response is not taken.
        stall: u8 Shape::Scalar(1), Number;
        /// First lane in the order of the rotating winner policy.
        rotate: u8 Shape::Scalar(8), Number;
        /// The request in the last stage is suspended at the coming clock edge.
        wait_enter: u8 Shape::Scalar(1), Number;
        /// A cluster request is carried out, at the coming clock edge.
        cl_done: u8 Shape::Scalar(1), Number;
        /// It owes a response.
        cl_owes: u8 Shape::Scalar(1), Number;
        /// Responses that the cluster port owes, from issue until they are taken.
        cl_owed: u8 Shape::Scalar(8), Number;
    }
}
