// RUN: cute-opt %s --cute-schedule=overlap=perhaps --verify-diagnostics

// expected-error @below {{cute-schedule: expected overlap=true or overlap=false, found 'perhaps'}}
module {
}
