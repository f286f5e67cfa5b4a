import Boutique
import Foundation
import Testing

@Suite struct StoredValueTests {
    let place = ValuePlace()

    @Test func `A value is the default value until it is set`() throws {
        let value = place.value(Theme.light)
        #expect(value.wrappedValue == .light)
        #expect(try place.text() == nil)
        value.wrappedValue = .dark
        #expect(value.wrappedValue == .dark)
        #expect(value.lastError == nil)
    }

    @Test func `The stored bytes are those that Boutique writes`() throws {
        place.value("flag", false).set(true)
        #expect(try place.text("flag") == #"{"value":true}"#)
        place.value("absent", Int?.some(1)).set(nil)
        #expect(try place.text("absent") == #"{"value":null}"#)
    }

    @Test("A stored nil is nil, not the default", arguments: [#"{"value":null}"#, "{}"])
    func storedNil(_ bytes: String) throws {
        try place.put(bytes)
        let value = place.value(Int?.some(5))
        #expect(value.wrappedValue == nil)
        #expect(value.lastError == nil)
    }

    @Test func `Bytes without a value cannot be decoded as a type that is not optional`() throws {
        try place.put("{}")
        let value = place.value(5)
        #expect(value.wrappedValue == 5)
        #expect(value.lastError?.code == .decodingFailed)
    }

    @Test func `Resetting stores the default value`() throws {
        let value = place.value(1)
        value.set(2)
        value.reset()
        #expect(value.wrappedValue == 1)
        #expect(try place.text() == #"{"value":1}"#)
    }

    @Test func `Helpers change values that are not optional`() {
        let flag = place.value("flag", false)
        flag.toggle()
        #expect(flag.wrappedValue)

        let list = place.value("list", [1])
        list.append(2)
        #expect(list.wrappedValue == [1, 2])
        list.replace(1, with: 3)
        list.replace(7, with: 8)
        #expect(list.wrappedValue == [3, 2])
        list.togglePresence(2)
        list.togglePresence(5)
        #expect(list.wrappedValue == [3, 5])

        let dictionary = place.value("dictionary", ["a": 1])
        dictionary.update(key: "b", value: 2)
        dictionary.update(key: "a", value: nil)
        #expect(dictionary.wrappedValue == ["b": 2])

        let preferences = place.value("preferences", Preferences())
        preferences.set(\.name, to: "new")
        #expect(preferences.wrappedValue == Preferences(hasHaptics: false, name: "new"))
    }

    @Test func `Helpers change optional values, starting from empty values`() {
        let flag = place.value("flag", Bool?.none)
        flag.toggle()
        #expect(flag.wrappedValue == true)

        let list = place.value("list", [Int]?.none)
        list.replace(1, with: 2)
        #expect(list.wrappedValue == nil)
        list.append(1)
        list.append(2)
        list.replace(1, with: 3)
        #expect(list.wrappedValue == [3, 2])
        list.togglePresence(3)
        #expect(list.wrappedValue == [2])
        list.set(nil)
        list.togglePresence(4)
        #expect(list.wrappedValue == [4])

        let dictionary = place.value("dictionary", [String: Int]?.none)
        dictionary.update(key: "a", value: 1)
        #expect(dictionary.wrappedValue == ["a": 1])

        let preferences = place.value("preferences", Preferences?.none)
        preferences.set(\.name, to: "new")
        #expect(preferences.wrappedValue == nil)
        preferences.set(Preferences())
        preferences.set(\.name, to: "new")
        #expect(preferences.wrappedValue?.name == "new")
    }

    @Test func `All wrappers of one key have one value, and those of other keys have others`() {
        let (one, other) = (place.value("a", 0), place.value("a", 0))
        let different = place.value("b", 0)
        one.set(1)
        #expect(other.wrappedValue == 1)
        other.modify { $0 += 1 }
        #expect(one.wrappedValue == 2)
        #expect(different.wrappedValue == 0)
    }

    @Test func `A change may read other values and change them`() {
        let (one, other) = (place.value("a", 1), place.value("b", 2))
        one.modify { value in
            value += other.wrappedValue
            other.set(10)
        }
        #expect(one.wrappedValue == 3)
        #expect(other.wrappedValue == 10)
    }

    @Test func `Threads that change a value concurrently lose no change, whichever wrapper they use`() async {
        let place = place
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<2 {
                group.addTask {
                    let number = place.value("number", 0)
                    for _ in 0..<300 { number.modify { $0 += 1 } }
                }
                group.addTask {
                    let list = place.value("list", [Int]())
                    for number in 0..<100 { list.append(number) }
                }
                group.addTask {
                    let number = place.value("number", 0)
                    var last = 0
                    for _ in 0..<300 {
                        let next = number.wrappedValue
                        #expect(next >= last)
                        last = next
                    }
                }
            }
        }
        #expect(place.value("number", 0).wrappedValue == 600)
        #expect(place.value("list", [Int]()).wrappedValue.sorted() == (0..<200).map { $0 / 2 })
    }
}
