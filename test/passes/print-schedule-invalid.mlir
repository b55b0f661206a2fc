// RUN: cute-opt %s --cute-print-schedule=format=svg --verify-diagnostics

// expected-error @below {{cute-print-schedule: format: expected text or dot, found 'svg'}}
module {
}
