//! Requests as values that can be generated, shrunk, stored and printed.

use std::fmt::{self, LowerHex};

use atoms_model::port::{In, MAX_LANES};
use atoms_ops::{Op, Operands, Size};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Operands and address register of one lane of a warp request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Lane {
    /// Address register Ra of the lane.
    #[serde(default, with = "HexNumber", skip_serializing_if = "is_zero")]
    pub ra: u32,
    /// Operand B, up to 128 bits.
    #[serde(default, with = "HexNumber", skip_serializing_if = "is_zero")]
    pub b: u128,
    /// Operand C, up to 128 bits.
    #[serde(default, with = "HexNumber", skip_serializing_if = "is_zero")]
    pub c: u128,
}

/// One instruction of one warp, as on the warp port.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WarpRequest {
    /// Operation code, legal or not.
    pub op: u8,
    /// Size code, legal or not.
    pub size: u8,
    /// True if the requester wants no result.
    pub red: bool,
    /// True for the absolute address form, without Ra.
    pub absolute: bool,
    /// Scale code: log2 of the factor on Ra. Codes other than 2 to 4 mean factor 1.
    pub scale: u8,
    /// Tag of the request, 6 bits.
    pub tag: u8,
    /// CTA slot of the request, 4 bits.
    pub slot: u8,
    /// Mask of the active lanes. Bit `n`: lane `n`.
    #[serde(with = "HexNumber")]
    pub mask: u32,
    /// Immediate of the address, 24 bits.
    #[serde(with = "HexNumber")]
    pub imm: u32,
    /// Value of the uniform register.
    #[serde(with = "HexNumber")]
    pub ur: u32,
    /// Lanes from lane 0. Lanes that are left out are zero.
    pub lanes: Vec<Lane>,
}

/// Address form of a warp request, common to all lanes (spec 2.1, 2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressForm {
    /// True if the address includes Ra.
    pub register: bool,
    /// log2 of the factor on Ra.
    pub shift: u8,
    /// Value of the uniform register.
    pub uniform: u32,
    /// Immediate, extended to 32 bits.
    pub immediate: i32,
}

impl AddressForm {
    /// Creates the form with Ra, from the fields on the port. Sign-extends the immediate.
    pub const fn register(scale: u8, imm: u32, uniform: u32) -> Self {
        let immediate = (imm << 8) as i32 >> 8;
        AddressForm { register: true, shift: Self::shift_of(scale), uniform, immediate }
    }

    /// Creates the form without Ra, from the fields on the port. Zero-extends the immediate.
    pub const fn absolute(imm: u32, uniform: u32) -> Self {
        AddressForm { register: false, shift: 0, uniform, immediate: (imm & 0xff_ffff) as i32 }
    }

    /// Returns log2 of the factor on Ra for a scale code on the port.
    pub const fn shift_of(scale: u8) -> u8 {
        if matches!(scale, 2..=4) { scale } else { 0 }
    }

    /// Returns the address of a lane with this Ra.
    #[inline]
    pub fn address(self, ra: u32) -> u32 {
        self.sum(ra) as u32
    }

    /// Returns the address before it is truncated to 32 bits.
    #[inline]
    pub fn sum(self, ra: u32) -> i64 {
        let ra = if self.register { ra << self.shift } else { 0 };
        i64::from(ra) + i64::from(self.uniform) + i64::from(self.immediate)
    }

    /// Returns the Ra that gives this address, or the nearest lower address that the factor can reach.
    pub fn ra(self, address: u32) -> u32 {
        address.wrapping_sub(self.address(0)) >> self.shift
    }
}

/// One request of the cluster port.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClusterRequest {
    /// Operation code, legal or not.
    pub op: u8,
    /// Size code, legal or not.
    pub size: u8,
    /// True if the requester wants no result.
    pub red: bool,
    /// Tag of the request, 6 bits.
    pub tag: u8,
    /// CTA slot that owns the address.
    pub slot: u8,
    /// Byte offset in the CTA's allocation.
    #[serde(with = "HexNumber")]
    pub addr: u32,
    /// Operand B, up to 128 bits.
    #[serde(with = "HexNumber")]
    pub b: u128,
    /// Operand C, up to 128 bits.
    #[serde(with = "HexNumber")]
    pub c: u128,
}

/// One write of the CTA table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AllocationWrite {
    /// CTA slot to write, 4 bits.
    pub slot: u8,
    /// True to give the slot an allocation, false to take it away.
    pub enable: bool,
    /// First row of the allocation.
    pub base: u16,
    /// Size of the allocation in bytes.
    pub size: u32,
    /// Rank of the CTA in its cluster.
    pub rank: u8,
}

impl WarpRequest {
    /// Returns the common address form of the lanes.
    pub fn address_form(&self) -> AddressForm {
        if self.absolute {
            AddressForm::absolute(self.imm, self.ur)
        } else {
            AddressForm::register(self.scale, self.imm, self.ur)
        }
    }

    /// Returns the fields of a lane. Zero if `lanes` does not have the lane.
    #[inline]
    pub fn lane(&self, lane: usize) -> Lane {
        self.lanes.get(lane).copied().unwrap_or_default()
    }

    /// Drives the request on the warp port, with valid high.
    pub fn drive(&self, i: &mut In) {
        i.req_valid = 1;
        i.req_op = self.op & 31;
        i.req_size = self.size & 15;
        i.req_red = u8::from(self.red);
        i.req_absolute = u8::from(self.absolute);
        i.req_scale = self.scale & 7;
        i.req_tag = self.tag & 63;
        i.req_slot = self.slot & 15;
        i.req_mask = self.mask;
        i.req_imm = self.imm & 0xff_ffff;
        i.req_ur = self.ur;
        i.req_ra = [0; MAX_LANES];
        i.req_b = [0; MAX_LANES];
        i.req_c = [0; MAX_LANES];
        for (l, lane) in self.lanes.iter().enumerate().take(MAX_LANES) {
            i.req_ra[l] = lane.ra;
            i.req_b[l] = lane.b;
            i.req_c[l] = lane.c;
        }
    }

    /// Reads the request on the warp port.
    pub fn sample(i: &In) -> Self {
        let unused = |l: &usize| i.req_ra[*l] == 0 && i.req_b[*l] == 0 && i.req_c[*l] == 0;
        let used = MAX_LANES - (0..MAX_LANES).rev().take_while(unused).count();
        let lanes = i.req_ra[..used].iter().zip(&i.req_b[..used]).zip(&i.req_c[..used]);
        WarpRequest {
            op: i.req_op,
            size: i.req_size,
            red: i.req_red == 1,
            absolute: i.req_absolute == 1,
            scale: i.req_scale,
            tag: i.req_tag,
            slot: i.req_slot,
            mask: i.req_mask,
            imm: i.req_imm,
            ur: i.req_ur,
            lanes: lanes.map(|((ra, b), c)| Lane { ra: *ra, b: *b, c: *c }).collect(),
        }
    }
}

impl ClusterRequest {
    /// Reads the request on the cluster port.
    pub fn sample(i: &In) -> Self {
        ClusterRequest {
            op: i.cl_op,
            size: i.cl_size,
            red: i.cl_red == 1,
            tag: i.cl_tag,
            slot: i.cl_slot,
            addr: i.cl_addr,
            b: i.cl_b,
            c: i.cl_c,
        }
    }

    /// Drives the request on the cluster port, with valid high.
    pub fn drive(&self, i: &mut In) {
        i.cl_valid = 1;
        i.cl_op = self.op & 31;
        i.cl_size = self.size & 15;
        i.cl_red = u8::from(self.red);
        i.cl_tag = self.tag & 63;
        i.cl_slot = self.slot & 15;
        i.cl_addr = self.addr & 0xff_ffff;
        i.cl_b = self.b;
        i.cl_c = self.c;
    }
}

impl AllocationWrite {
    /// Reads the write on the port of the CTA table.
    pub fn sample(i: &In) -> Self {
        AllocationWrite {
            slot: i.cta_slot,
            enable: i.cta_enable == 1,
            base: i.cta_base,
            size: i.cta_size,
            rank: i.cta_rank,
        }
    }

    /// Drives the write on the port of the CTA table, with valid high.
    pub fn drive(&self, i: &mut In) {
        i.cta_valid = 1;
        i.cta_slot = self.slot & 15;
        i.cta_enable = u8::from(self.enable);
        i.cta_base = self.base;
        i.cta_size = self.size & 0x1ff_ffff;
        i.cta_rank = self.rank;
    }
}

/// Writes a text such as `64 bytes from row 2 on, rank 0`.
impl fmt::Display for AllocationWrite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.enable {
            true => write!(f, "{} bytes from row {} on, rank {}", self.size, self.base, self.rank),
            false => f.write_str("taken away"),
        }
    }
}

/// Lanes that `Display` prints; it leaves out further lanes.
const SHOWN: usize = 4;

/// Writes operation and size by name, or by code if they have no name.
///
/// # Errors
/// Those of `f`.
pub fn write_op(f: &mut impl fmt::Write, op: u8, size: u8) -> fmt::Result {
    match Op::from_code(op) {
        Some(op) => write!(f, "{op}")?,
        None => write!(f, "op {op}")?,
    }
    match Size::from_code(size) {
        Some(size) => write!(f, ".{size}"),
        None => write!(f, ".size {size}"),
    }
}

/// Writes the operands that an operation reads. Writes both for an unknown operation.
fn write_operands(f: &mut fmt::Formatter<'_>, op: u8, b: u128, c: u128) -> fmt::Result {
    match Op::from_code(op).map_or(Operands::BC, |op| op.row().operands) {
        Operands::None => Ok(()),
        Operands::B => write!(f, " b {b:#x}"),
        Operands::BC => write!(f, " b {b:#x} c {c:#x}"),
    }
}

impl fmt::Display for ClusterRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_op(f, self.op, self.size)?;
        let red = if self.red { " (no result)" } else { "" };
        write!(f, "{red} tag {} slot {} [{:#x}]", self.tag, self.slot, self.addr)?;
        write_operands(f, self.op, self.b, self.c)
    }
}

impl fmt::Display for WarpRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_op(f, self.op, self.size)?;
        write!(
            f,
            "{} tag {} slot {} lanes {:#x} [",
            if self.red { " (no result)" } else { "" },
            self.tag,
            self.slot,
            self.mask
        )?;
        if !self.absolute {
            write!(f, "Ra")?;
            let shift = self.address_form().shift;
            if shift != 0 {
                write!(f, ".X{}", 1 << shift)?;
            }
            write!(f, " + ")?;
        }
        if self.ur != 0 {
            write!(f, "{:#x} + ", self.ur)?;
        }
        write!(f, "{:#x}]", self.imm)?;
        let active = (0..MAX_LANES).filter(|l| self.mask >> l & 1 != 0);
        for l in active.clone().take(SHOWN) {
            let lane = self.lane(l);
            write!(f, " | {l}:")?;
            if !self.absolute {
                write!(f, " ra {:#x}", lane.ra)?;
            }
            write_operands(f, self.op, lane.b, lane.c)?;
        }
        if active.clone().count() > SHOWN {
            write!(f, " | ...")?;
        }
        Ok(())
    }
}

fn is_zero<T: PartialEq + Default>(value: &T) -> bool {
    *value == T::default()
}

/// Number as `"0x..."`, because 128 bits do not fit into a JSON number.
#[derive(schemars::JsonSchema)]
pub struct HexNumber(#[expect(dead_code, reason = "type of the JSON")] String);

impl HexNumber {
    /// Writes the number as hexadecimal text.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<T: LowerHex, S: Serializer>(value: &T, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(&format!("{value:#x}"))
    }

    /// Reads the number from hexadecimal text.
    ///
    /// # Errors
    /// If the text is not a hexadecimal number, or has more bits than `T`.
    pub fn deserialize<'de, T: TryFrom<u128>, D: Deserializer<'de>>(d: D) -> Result<T, D::Error> {
        let text = String::deserialize(d)?;
        let digits = text.strip_prefix("0x").unwrap_or(&text);
        u128::from_str_radix(digits, 16).ok().and_then(|value| T::try_from(value).ok()).ok_or_else(|| {
            D::Error::custom(format!("`{text}`: expected a hexadecimal number such as \"0x1f\""))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_formed_as_the_specification_says() {
        #[rustfmt::skip]
        const CASES: &[(&str, AddressForm, u32, u32)] = &[
            // rule                                  form                                        ra           address
            ("Ra is scaled",                         AddressForm::register(3, 16, 0x100),        5,           0x100 + 16 + 40),
            ("reserved factors count as one",        AddressForm::register(5, 0, 0),             5,           5),
            ("a negative immediate is extended",     AddressForm::register(0, 0xff_fffc, 0x100), 8,           0x104),
            ("the sum is cut to 32 bits",            AddressForm::register(0, 8, 0),             0xffff_fffc, 4),
            ("what Ra shifts out is lost",           AddressForm::register(4, 0, 0),             0x1000_0001, 16),
            ("the absolute form has no Ra",          AddressForm::absolute(0x10, 0x100),         5,           0x110),
            ("its immediate is extended with zeros", AddressForm::absolute(0xff_fffc, 0),        5,           0xff_fffc),
        ];
        for (rule, form, ra, address) in CASES {
            assert_eq!(form.address(*ra), *address, "{rule}");
        }
        let form = AddressForm::register(2, 0xff_fff8, 4);
        assert_eq!(form.address(form.ra(0x102)), 0x100, "as near as the factor reaches");
        assert_eq!(form.sum(0), -4);
    }

    #[test]
    fn what_is_driven_is_sampled() {
        let request = WarpRequest {
            op: Op::Cas as u8,
            size: Size::B128 as u8,
            red: true,
            absolute: false,
            scale: 3,
            tag: 9,
            slot: 2,
            mask: 0x8000_0001,
            imm: 0xff_fffc,
            ur: 7,
            lanes: (0..32).map(|l| Lane { ra: l, b: u128::MAX - u128::from(l), c: 1 }).collect(),
        };
        let mut i = In::default();
        request.drive(&mut i);
        assert_eq!(WarpRequest::sample(&i), request);
        let json = serde_json::to_string(&request).expect("serializes");
        assert_eq!(serde_json::from_str::<WarpRequest>(&json).expect("reads back"), request);
    }
}
