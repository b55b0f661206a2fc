// RUN: cute-opt %s --cute-print-schedule=format=svg --verify-diagnostics

// expected-error @below {{cute-print-schedule: expected format=text or format=dot, found 'svg'}}
module {
}
