import Logging

/// The module's logger, for errors that cannot be thrown.
let codableStoreLogger = Logger(label: "emporium.codablestorekit")
