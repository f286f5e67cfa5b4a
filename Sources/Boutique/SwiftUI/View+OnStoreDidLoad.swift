#if canImport(SwiftUI)
public import SwiftUI

extension View {

    /// Calls back when the items of a store are loaded.
    ///
    /// ```swift
    /// List(notes) { … }
    ///     .onStoreDidLoad(store, onLoad: { isLoading = false }, onError: { problem = $0 })
    /// ```
    ///
    /// It waits from the view's appearance to its disappearance, so a view that appears again is called again, and one that
    /// appears after the items were loaded is called at once. If loading has failed, `onError` is called, and `onLoad`
    /// when a later ``Store/reload()`` succeeds.
    ///
    /// - Parameters:
    ///   - store: The store. When another store takes its place, it waits for that one.
    ///   - onLoad: Called when the items are there.
    ///   - onError: Called with the error if they could not be read.
    public func onStoreDidLoad<Item: StorableItem>(
        _ store: Store<Item>,
        onLoad: @escaping @MainActor () -> Void,
        onError: (@MainActor (any Error) -> Void)? = nil
    ) -> some View {
        task(id: ObjectIdentifier(store)) { await store.whenLoaded(onLoad, onError: onError) }
    }

    /// Sets a flag when the items of a store are loaded.
    ///
    /// ```swift
    /// @State private var isLoaded = false
    ///
    /// var body: some View {
    ///     NotesList()
    ///         .onStoreDidLoad(store, update: $isLoaded)
    /// }
    /// ```
    ///
    /// It is never set to `false`, neither when loading fails nor when the view disappears.
    ///
    /// - Parameters:
    ///   - store: The store. When another store takes its place, it waits for that one.
    ///   - isLoaded: Becomes `true` when the items are there, also by a later ``Store/reload()``.
    ///   - onError: Called with the error if they could not be read.
    public func onStoreDidLoad<Item: StorableItem>(
        _ store: Store<Item>,
        update isLoaded: Binding<Bool>,
        onError: (@MainActor (any Error) -> Void)? = nil
    ) -> some View {
        onStoreDidLoad(store, onLoad: { isLoaded.wrappedValue = true }, onError: onError)
    }
}
#endif
