import Dispatch

/// Runs work on the main actor: at once if the caller is there.
func onMainActor(_ work: @escaping @MainActor @Sendable () -> Void) {
    if DispatchQueue.getSpecific(key: mainQueueMark) != nil {
        MainActor.assumeIsolated(work)
    } else {
        Task { @MainActor in work() }
    }
}

/// Marks the main queue, whose work is that of the main actor. To ask for the main thread is not enough: off Apple's
/// platforms other threads serve the main queue once the program waits for its asynchronous `main`.
private let mainQueueMark = {
    let key = DispatchSpecificKey<Void>()
    DispatchQueue.main.setSpecific(key: key, value: ())
    return key
}()
