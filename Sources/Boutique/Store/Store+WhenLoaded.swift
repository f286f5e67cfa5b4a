extension Store {

    /// Waits until the items are there and calls back, unless the calling task is cancelled before.
    ///
    /// If loading fails, it says so once and goes on waiting, because ``reload()`` may succeed later.
    ///
    /// - Parameters:
    ///   - onLoad: Called once, when the items are there.
    ///   - onError: Called with the error if loading has failed.
    package func whenLoaded(
        _ onLoad: @MainActor () -> Void,
        onError: (@MainActor (any Error) -> Void)? = nil
    ) async {
        do {
            try await itemsHaveLoaded()
        } catch {
            if Task.isCancelled { return }
            onError?(error)
            // Ends without the event if the task is cancelled.
            for await event in events where event.operation == .loaded { break }
        }
        if !Task.isCancelled { onLoad() }
    }
}
