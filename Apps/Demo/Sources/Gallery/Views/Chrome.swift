/// The parts that all pages share around their content.
struct Chrome: Sendable {
    let title: String
    let theme: String
    let notice: Notice?
    let isOnline: Bool
    let apiIsOn: Bool
    let member: Member?
    let themes: [Choice]
    let orders: [Choice]
    /// The synchronization, `nil` if the gallery is not synchronized.
    let sync: SyncView?

    /// The signed-in user. The token is left out, so that no template can show it.
    struct Member: Sendable {
        let name: String
    }

    /// An option of a setting.
    struct Choice: Sendable {
        let value: String
        let label: String
        let isChosen: Bool
    }
}

extension Chrome {
    /// Reads the values from the controllers.
    @MainActor
    init(title: String, _ controllers: GalleryControllers, apiIsOn: Bool) {
        let preferences = controllers.preferences
        let sync = controllers.sync.map(SyncView.init)
        self.init(
            title: sync.map { "\(title) · \($0.device)" } ?? title,
            theme: preferences.theme.rawValue,
            notice: controllers.noticeboard.notice,
            isOnline: controllers.availability.isOnline,
            apiIsOn: apiIsOn,
            member: controllers.account.session.map { Member(name: $0.name) },
            themes: Theme.allCases.map { theme in
                Choice(value: theme.rawValue, label: theme.label, isChosen: theme == preferences.theme)
            },
            orders: SortOrder.allCases.map { order in
                Choice(value: order.rawValue, label: order.label, isChosen: order == preferences.sortOrder)
            },
            sync: sync
        )
    }
}

extension Theme {
    /// The label of the option.
    fileprivate var label: String {
        switch self {
        case .auto: "Auto"
        case .light: "Light"
        case .dark: "Dark"
        }
    }
}

extension SortOrder {
    /// The label of the option.
    fileprivate var label: String {
        switch self {
        case .newest: "Newest"
        case .oldest: "Oldest"
        case .title: "Title"
        }
    }
}
