import Boutique
import Foundation

// What Boutique's README shows of its value wrappers, in the names of versions 2 and 3. It runs in this process because
// its user defaults and folders are not those of the user.

private enum Theme: String, Codable, Equatable { case light, dark }

private struct UserPreferences: Codable, Equatable {
    var hasHapticsEnabled = false
    var prefersDarkMode = false
    var prefersWideScreen = false
    var spatialAudioEnabled = false
}

/// Uses values as the README shows, and stops at the first that doesn't do what it says.
///
/// Arguments: how often it has run before in the same home.
func runValueSnippets(_ arguments: [String]) async throws {
    let isFirst = arguments == ["0"]

    @StoredValue(key: "hasHapticsEnabled")
    var hasHapticsEnabled = false

    @StoredValue(key: "lastOpenedDate")
    var lastOpenedDate: Date? = nil

    @StoredValue(key: "currentTheme")
    var currentlySelectedTheme = Theme.light

    @StoredValue(key: "userPreferences")
    var preferences = UserPreferences()

    @AsyncStoredValue(storage: SQLiteStorageEngine.default(appendingPath: "Launches"))
    var launches = 0

    precondition(hasHapticsEnabled == !isFirst)
    precondition((lastOpenedDate == nil) == isFirst)
    precondition(currentlySelectedTheme == (isFirst ? .light : .dark))
    precondition(preferences.prefersDarkMode == !isFirst)
    try await $launches.valueHasLoaded()
    precondition(launches == (isFirst ? 0 : 1))

    // Version 2 has publishers, version 3 streams.
    var published: [Theme] = []
    let subscription = $currentlySelectedTheme.publisher.sink { published.append($0) }
    var themes = $currentlySelectedTheme.values.makeAsyncIterator()
    var streamed = [await themes.next()]

    $currentlySelectedTheme.reset()
    precondition(currentlySelectedTheme == .light)
    $currentlySelectedTheme.set(.dark)
    precondition(currentlySelectedTheme == .dark)
    precondition(published.suffix(2) == [.light, .dark])
    streamed += [await themes.next(), await themes.next()]
    precondition(streamed == [isFirst ? .light : .dark, .light, .dark])
    subscription.cancel()

    $lastOpenedDate.set(.now)
    precondition(lastOpenedDate != nil)

    $hasHapticsEnabled.set(false)
    $hasHapticsEnabled.toggle()
    precondition(hasHapticsEnabled)

    $preferences.set(\.prefersDarkMode, to: true)
    precondition(preferences == UserPreferences(prefersDarkMode: true))

    try await $launches.set(1)
    precondition(launches == 1)
    say("done")
}
