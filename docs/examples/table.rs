//! Encodes positions 100000 to 100003 in Rust. The program repeats the declarations of
//! posenc/c_api.h that it uses, and needs no crate:
//!
//!     rustc table.rs -L FOLDER_OF_THE_LIBRARY
//!     LD_LIBRARY_PATH=FOLDER_OF_THE_LIBRARY ./table

use std::ffi::CStr;
use std::mem::size_of;
use std::os::raw::{c_char, c_void};
use std::ptr::{null, null_mut};

const ABI: i32 = 5; // the POSENC_C_ABI of the header that the declarations repeat

#[repr(C)]
struct Spec {
    size: u64,
    d_model: i64,
    base: f64,
    layout: i32,
    spacing: i32,
    frequencies: *const c_char,
    values: *const f64,
    count: i64,
}

#[repr(C)]
struct Table {
    data: *mut c_void,
    rows: i64,
    columns: i64,
    stride: i64,
    element: i32,
    reserved: i32,
}

enum Encoder {}

#[link(name = "posenc_c")]
extern "C" {
    fn posenc_c_abi() -> i32;
    fn posenc_last_error() -> *const c_char;
    fn posenc_plan(backend: *const c_char, spec: *const Spec, encoder: *mut *mut Encoder) -> i32;
    fn posenc_encode(encoder: *const Encoder, first: i64, rows: i64, out: *const Table,
                     options: *const c_void) -> i32;
    fn posenc_encoder_free(encoder: *mut Encoder);
}

/// Returns the message of the last failure unless the status is 0.
fn checked(status: i32) -> Result<(), String> {
    if status == 0 {
        return Ok(());
    }
    Err(unsafe { CStr::from_ptr(posenc_last_error()) }.to_string_lossy().into_owned())
}

/// Encodes the positions from `first` on, one per row of d_model float32.
fn encode(first: i64, rows: i64, d_model: i64) -> Result<Vec<f32>, String> {
    // In a spec, 0 and null stand for the defaults.
    let spec = Spec { size: size_of::<Spec>() as u64, d_model, base: 0.0, layout: 0, spacing: 0,
                      frequencies: null(), values: null(), count: 0 };
    let mut values = vec![0.0f32; (rows * d_model).max(0) as usize];
    let out = Table { data: values.as_mut_ptr().cast(), rows, columns: d_model, stride: d_model,
                      element: 0, reserved: 0 };
    let mut encoder = null_mut();
    unsafe {
        checked(posenc_plan(b"rotation\0".as_ptr().cast(), &spec, &mut encoder))?;
        let status = posenc_encode(encoder, first, rows, &out, null());
        posenc_encoder_free(encoder);
        checked(status)?;
    }
    Ok(values)
}

fn main() -> Result<(), String> {
    assert_eq!(unsafe { posenc_c_abi() }, ABI, "this library has another interface");
    for row in encode(100_000, 4, 6)?.chunks(6) {
        println!("{:?}", row);
    }
    println!("{}", encode(0, 1, 7).unwrap_err());
    Ok(())
}
