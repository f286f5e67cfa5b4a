#if canImport(SwiftUI)
import Boutique
import SwiftUI

// Views that use single values. They cannot run without an app; the test is that they compile.

private struct SettingsView: View {
    @StoredValue(key: "hasHaptics") private var hasHaptics = false
    @StoredValue(key: "preferences") private var preferences = Preferences()
    @AsyncStoredValue(storage: MemoryStorageEngine()) private var isOpen = false
    @SecurelyStoredValue<String>(key: "token") private var token

    var body: some View {
        Text("\(hasHaptics) \(isOpen) \(token ?? "none")")
            .onReceive($preferences.publisher, perform: { print($0) })
        Control(value: $hasHaptics.binding)
        Control(value: $preferences.binding.name)
        Control(value: $token.binding)
    }
}

private struct Control<Value>: View {
    @Binding var value: Value

    var body: some View {
        Text("a control")
    }
}

private final class Settings: ObservableObject {
    @StoredValue(key: "hasHaptics") var hasHaptics = false
}

private struct ControllerView: View {
    @ObservedObject var settings: Settings

    var body: some View {
        Control(value: settings.$hasHaptics.binding)
    }
}
#endif
