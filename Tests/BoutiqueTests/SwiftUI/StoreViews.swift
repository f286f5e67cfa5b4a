#if canImport(SwiftUI)
import Boutique
import SwiftUI

// Views that use stores. They cannot run without an app; the test is that they compile.

private struct CallbackView: View {
    let store: Store<Note>
    @State private var allNotes: [Note] = []
    @State private var problem: (any Error)?
    @State private var isLoading = true

    var body: some View {
        Text("\(allNotes.count) \(isLoading)")
            .onStoreDidLoad(store) { isLoading = false }
            .onStoreDidLoad(
                store,
                onLoad: {
                    isLoading = false
                },
                onError: { error in
                    problem = error
                }
            )
            .onStoreDidLoad(store, onLoad: finish, onError: nil)
            .onReceive(
                store.$items,
                perform: {
                    self.allNotes = $0.filter({ $0.count > 100 })
                })
    }

    private func finish() {
        isLoading = false
    }
}

private struct FlagView: View {
    @Stored(in: Store<Note>.previewStore(items: [])) private var notes
    @State private var isLoaded = false
    @State private var problem: (any Error)?

    var body: some View {
        Text("\(notes.count) \(isLoaded)")
            .onStoreDidLoad($notes, update: $isLoaded)
            .onStoreDidLoad($notes, update: $isLoaded, onError: { problem = $0 })
    }
}
#endif
