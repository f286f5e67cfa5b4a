import Boutique
import Foundation
import Observation
import Testing

// Declarations as in programs for Boutique 2 and 3. The test is that they compile; none of them is used in this
// process, whose user defaults are those of the user.

private let globalFlag = StoredValue(key: "hasHapticsEnabled", default: false)

private class PlainController {
    @StoredValue(key: "hasHapticsEnabled")
    var hasHapticsEnabled = false

    @StoredValue(key: "lastOpenedDate")
    var lastOpenedDate: Date? = nil

    @StoredValue(key: "lastClosedDate")
    var lastClosedDate: Date?

    @StoredValue(key: "currentTheme")
    var currentlySelectedTheme = Theme.light

    @StoredValue(key: "userPreferences", storage: .standard)
    var preferences = Preferences()

    @StoredValue<[String]>(key: "names", default: [])
    var names

    @AsyncStoredValue(storage: MemoryStorageEngine())
    var asyncFlag = false

    private var injected: StoredValue<Int>

    init() {
        injected = StoredValue(key: "injected", default: 1, storage: .standard)
    }

    func useHelpers() {
        $lastOpenedDate.set(.now)
        $currentlySelectedTheme.set(.dark)
        $hasHapticsEnabled.toggle()
        $preferences.set(\.name, to: "new")
        $names.append("a")
        $names.replace("a", with: "b")
        $names.togglePresence("c")
        $hasHapticsEnabled.reset()
        let date: Date? = lastOpenedDate
        lastOpenedDate = date
        lastClosedDate = nil
        _ = $hasHapticsEnabled.publisher
        let _: AsyncStream<Bool> = $hasHapticsEnabled.values
        injected.set(2)
    }
}

@MainActor
private final class MainActorController: ObservableObject {
    @StoredValue(key: "flag") var flag = false
    @StoredValue(key: "shared") static var shared = 0
    @AsyncStoredValue(storage: MemoryStorageEngine()) var count = 0

    func use() async throws {
        flag.toggle()
        $flag.toggle()
        // Boutique's helpers were isolated to the main actor.
        Self.shared += 1
        Self.$shared.set(1)
        try await $count.set(count + 1)
    }
}

@MainActor
@Observable
private final class ObservableController {
    @ObservationIgnored @StoredValue(key: "theme") var theme: Theme = .light
    @ObservationIgnored @StoredValue(key: "names") private(set) var names: [String: Set<Int>] = [:]
    @ObservationIgnored @SecurelyStoredValue<String>(key: "token") var token
    @ObservationIgnored @SecurelyStoredValue(key: "login", service: "mail", group: "apps") var login: Preferences?
    @ObservationIgnored @AsyncStoredValue(storage: MemoryStorageEngine()) var count: Int? = nil

    func use() async throws {
        theme = .dark
        $theme.set(.light)
        $names.update(key: "a", value: [1])
        try $token.set(token.map { $0 + "a" } ?? "a")
        try $login.set(\.name, to: "new")
        try await $count.set(1)
        for await theme in $theme.values where theme == .dark { return }
    }
}

private class Box<Item: StorableItem> {
    @StoredValue var item: Item

    init(_ key: String, _ item: Item) {
        _item = StoredValue(wrappedValue: item, key: key, storage: .standard)
    }
}

private final class NamesBox: Box<[String]> {
    func use() {
        item += ["a"]
        $item.append("b")
    }
}

private actor Keeper {
    @StoredValue(key: "flag") var flag = false
    @AsyncStoredValue(storage: MemoryStorageEngine()) var count = 0

    func use() async throws {
        flag = true
        $flag.toggle()
        try await $count.set(1)
    }
}

private struct Settings {
    @StoredValue(key: "flag") var flag = false
    @AsyncStoredValue(storage: SQLiteStorageEngine.default(appendingPath: "Settings")) var count = 0

    func use() {
        // The wrapper can be set although `self` is immutable.
        $flag.set(true)
    }
}

@Suite struct ValueSourceCompatibilityTests {

    @Test func `Wrappers work as properties of classes, actors and structures and as local variables`() async throws {
        let place = ValuePlace()

        final class Plain {
            @StoredValue var number: Int
            init(_ number: StoredValue<Int>) { _number = number }
        }
        let plain = Plain(place.value("plain", 0))
        plain.number += 1
        plain.$number.modify { $0 += 1 }
        #expect(plain.number == 2)

        actor Keeper {
            @StoredValue var number: Int
            init(_ number: StoredValue<Int>) { _number = number }
            func increment() -> Int {
                number += 1
                $number.set(number + 1)
                return number
            }
        }
        #expect(await Keeper(place.value("actor", 0)).increment() == 2)

        struct Holder {
            @StoredValue var number: Int
        }
        let holder = Holder(number: place.value("structure", 0))
        holder.number = 5
        holder.$number.set(holder.number + 1)
        #expect(holder.number == 6)
        #expect(place.value("structure", 0).wrappedValue == 6)
    }

    @Test func `A wrapper may be passed to another task`() async {
        let value = ValuePlace().value(0)
        await Task { value.set(1) }.value
        #expect(value.wrappedValue == 1)
    }
}
