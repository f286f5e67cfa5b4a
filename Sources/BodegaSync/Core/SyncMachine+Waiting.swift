// What the machine waits for.
extension SyncMachine {

    /// The waits of a lane after failures.
    struct Lane: Sendable {
        var failures = 0
        var notBefore = Duration.zero
    }

    /// What is known about the credentials.
    enum Authorization: Sendable {
        case valid, missing, asking
        /// The app has none.
        case refused(until: Duration)
        /// Those of the app are not accepted. It is asked again later, so that neither it nor the server is busy.
        case rejected(until: Duration)
    }
}

/// Random numbers.
///
/// Source: S. Vigna, splitmix64, https://prng.di.unimi.it/splitmix64.c.
struct RandomNumbers: Sendable {
    var state: UInt64

    /// A number from 0 to 1.
    mutating func fraction() -> Double {
        state &+= 0x9E37_79B9_7F4A_7C15
        var bits = state
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return Double((bits ^ (bits >> 31)) >> 11) / Double(UInt64(1) << 53)
    }
}
