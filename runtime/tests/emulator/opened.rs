//! The device that is opened where it is asked for, and where there is no other.

use cute_runtime::cuda::CudaDevice;
use cute_runtime::device::{Choice, DeviceKind, open};
use cute_runtime::emulator;

#[test]
fn what_is_open_says_what_it_is() {
    let emulator = open(Choice::Emulator, emulator::Config::default()).unwrap();
    assert_eq!(emulator.device.info().kind, DeviceKind::Emulator);
    assert!(emulator.no_gpu.is_none());
    let auto = open(Choice::Auto, emulator::Config::default()).unwrap();
    match CudaDevice::open(0) {
        Ok(_) => assert_eq!(auto.device.info().kind, DeviceKind::Cuda),
        Err(_) => {
            assert_eq!(auto.device.info().kind, DeviceKind::Emulator);
            assert!(auto.no_gpu.is_some());
        }
    }
}
