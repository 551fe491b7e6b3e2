//! Object types of atomic builtins.

use super::BuiltinRefusal;
use super::excerpt::excerpt;
use atoms_isa::nearest;
use std::fmt;
use std::str::FromStr;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TypeClass {
    /// Type without arithmetic, for exchange, compare-and-swap and bitwise operations.
    Bits,
    Unsigned,
    Signed,
    Float,
    /// 16-bit floats: half and bfloat16, single or packed.
    Half,
}

impl TypeClass {
    pub const fn letter(self) -> char {
        match self {
            TypeClass::Bits => 'b',
            TypeClass::Unsigned => 'u',
            TypeClass::Signed => 's',
            TypeClass::Float | TypeClass::Half => 'f',
        }
    }
}

macro_rules! types {
    ($($variant:ident $name:literal $cuda:literal $bytes:literal $class:ident;)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum ObjectType { $($variant,)* }

        impl ObjectType {
            /// All types in the order of the table in `docs/builtins.md`.
            pub const ALL: &[ObjectType] = &[$(ObjectType::$variant,)*];

            /// Short name, such as `u32`: letter of the type class and width in bits.
            pub const fn name(self) -> &'static str {
                match self { $(ObjectType::$variant => $name,)* }
            }

            /// Name in CUDA C++. The name of `U128` is used for every type of 16 bytes.
            pub const fn cuda_name(self) -> &'static str {
                match self { $(ObjectType::$variant => $cuda,)* }
            }

            pub const fn bytes(self) -> u32 {
                match self { $(ObjectType::$variant => $bytes,)* }
            }

            pub const fn class(self) -> TypeClass {
                match self { $(ObjectType::$variant => TypeClass::$class,)* }
            }
        }
    };
}

types! {
    S8 "s8" "signed char" 1 Signed;
    U8 "u8" "unsigned char" 1 Unsigned;
    S16 "s16" "short" 2 Signed;
    U16 "u16" "unsigned short" 2 Unsigned;
    S32 "s32" "int" 4 Signed;
    U32 "u32" "unsigned" 4 Unsigned;
    S64 "s64" "long long" 8 Signed;
    U64 "u64" "unsigned long long" 8 Unsigned;
    S128 "s128" "__int128" 16 Signed;
    U128 "u128" "unsigned __int128" 16 Unsigned;
    F32 "f32" "float" 4 Float;
    F64 "f64" "double" 8 Float;
    F16 "f16" "__half" 2 Half;
    F16x2 "f16x2" "__half2" 4 Half;
    F16x4 "f16x4" "half4" 8 Half;
    Bf16 "bf16" "__nv_bfloat16" 2 Half;
    Bf16x2 "bf16x2" "__nv_bfloat162" 4 Half;
    B128 "b128" "U128" 16 Bits;
}

impl ObjectType {
    pub const fn bits(self) -> u32 {
        8 * self.bytes()
    }

    /// Mask of the object's bits if the object is in the lowest bits of a word. Only for objects of 1 and 2
    /// bytes.
    pub(super) const fn ones(self) -> u32 {
        if self.bytes() == 1 { 0xff } else { 0xffff }
    }

    pub const fn is_integer(self) -> bool {
        matches!(self.class(), TypeClass::Unsigned | TypeClass::Signed)
    }

    /// True if the object is smaller than the 32-bit words of atomics.
    pub const fn is_subword(self) -> bool {
        self.bytes() < 4
    }

    pub const fn unsigned(bytes: u32) -> Option<ObjectType> {
        Some(match bytes {
            1 => ObjectType::U8,
            2 => ObjectType::U16,
            4 => ObjectType::U32,
            8 => ObjectType::U64,
            16 => ObjectType::U128,
            _ => return None,
        })
    }

    /// Returns the type with a type class and a width in bytes, which are the suffixes of builtin names.
    /// `None` if there is no such type.
    pub const fn of(class: TypeClass, bytes: u32) -> Option<ObjectType> {
        Some(match (class, bytes) {
            (TypeClass::Unsigned | TypeClass::Bits, _) => return ObjectType::unsigned(bytes),
            (TypeClass::Signed, 1) => ObjectType::S8,
            (TypeClass::Signed, 2) => ObjectType::S16,
            (TypeClass::Signed, 4) => ObjectType::S32,
            (TypeClass::Signed, 8) => ObjectType::S64,
            (TypeClass::Signed, 16) => ObjectType::S128,
            (TypeClass::Float, 4) => ObjectType::F32,
            (TypeClass::Float, 8) => ObjectType::F64,
            (TypeClass::Half, 2) => ObjectType::F16,
            _ => return None,
        })
    }
}

impl fmt::Display for ObjectType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for ObjectType {
    type Err = BuiltinRefusal;

    /// Parses a short name (`u32`, `b128`) or a name of CUDA C++ (`unsigned long long`, `__half`).
    fn from_str(text: &str) -> Result<ObjectType, BuiltinRefusal> {
        let plain = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let other = match plain.as_str() {
            "unsigned int" => "unsigned",
            "char" => "signed char",
            "half" => "f16",
            "half2" => "f16x2",
            "bfloat16" => "bf16",
            "bfloat162" => "bf16x2",
            same => same,
        };
        let found = ObjectType::ALL.iter().find(|t| t.name() == other || t.cuda_name() == other);
        found.copied().ok_or_else(|| {
            let names = ObjectType::ALL.iter().flat_map(|t| [t.name(), t.cuda_name()]);
            BuiltinRefusal::new(
                format!("unknown type `{}`", excerpt(text)),
                format!("the nearest known one is `{}`", nearest(&plain, names).unwrap_or_default()),
            )
        })
    }
}
