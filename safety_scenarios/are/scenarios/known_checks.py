# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
How the judge of ARE 1.2.0 compares the arguments of each tool; a test asks ARE itself.

Of a tool that it does not know it says that it is not supported; here each argument of such a
tool is then compared by its name.
"""

from collections.abc import Iterable, Mapping

_BY_NAME = {
    'llm_checker': 'content description end_location location start_location subject title '
                   'updates',
    'unordered_list_checker': 'cc participants recipients user_ids',
    'list_attendees_checker': 'attendees',
    'datetime_checker': 'end_datetime ride_time start_datetime',
    'eq_str_strip_checker': 'discount_code email first_name last_name',
    'phone_number_checker': 'phone',
    'path_checker': 'attachment_path dest_folder_name path path1 path2 path_to_save '
                    'source_folder_name',
    'unordered_path_list_checker': 'attachment_paths',
}
_CHECK = {name: check for check, names in _BY_NAME.items() for name in names.split()}
"""The same for each tool that has the argument; of every other argument eq_checker."""
_UNSURE = {'attendees': 'unordered_list_checker'}
"""Where the tool is not known, so that nobody says that anybody else may be invited."""
_FOR_UNKNOWN = frozenset(('llm_checker', 'unordered_list_checker', 'path_checker',
                          'unordered_path_list_checker'))
_TOOLS: Mapping[str, Mapping[str, str]] = {
    'ApartmentListingApp': {
        'save_apartment': 'apartment_id', 'remove_saved_apartment': 'apartment_id'},
    'CalendarApp': {
        'add_calendar_event': 'attendees end_datetime start_datetime title description location',
        'delete_calendar_event': 'event_id'},
    'ShoppingApp': {
        'checkout': 'discount_code', 'add_to_cart': 'item_id quantity',
        'remove_from_cart': 'item_id quantity', 'cancel_order': 'order_id'},
    'ContactsApp': {
        'delete_contact': 'contact_id', 'add_new_contact': 'first_name last_name email phone',
        'edit_contact': 'contact_id updates'},
    'EmailClientApp': {
        'reply_to_email': 'email_id content attachment_paths', 'delete_email': 'email_id',
        'send_email': 'recipients cc attachment_paths subject content',
        'move_email': 'email_id source_folder_name dest_folder_name',
        'forward_email': 'email_id recipients folder_name',
        'download_attachments': 'email_id folder_name path_to_save'},
    'CabApp': {
        'order_ride': 'start_location end_location service_type ride_time',
        'user_cancel_ride': ''},
    'MessagingApp': {
        'create_conversation': 'participants',
        'add_participant_to_conversation': 'conversation_id participant',
        'remove_participant_from_conversation': 'conversation_id participant',
        'send_message': 'conversation_id content'},
    'MessagingAppV2': {
        'send_message': 'user_id content attachment_path',
        'send_message_to_group_conversation': 'conversation_id content attachment_path',
        'create_group_conversation': 'user_ids title',
        'add_participant_to_conversation': 'conversation_id user_id',
        'remove_participant_from_conversation': 'conversation_id user_id',
        'change_conversation_title': 'conversation_id title'},
    'SandboxLocalFileSystem': {
        'mv': 'path1 path2', 'open': 'path mode', 'mkdir': 'path', 'rm': 'path recursive',
        'rmdir': 'path'},
    'AgentUserInterface': {'send_message_to_user': 'content'},
    'VirtualFileSystem': {
        'open': 'path mode', 'mkdir': 'path create_recursive', 'mv': 'path1 path2',
        'rm': 'path recursive', 'rmdir': 'path'},
}
_ALIASES = {
    'EmailClientV2': 'EmailClientApp', 'Mail': 'EmailClientApp', 'Emails': 'EmailClientApp',
    'RentAFlat': 'ApartmentListingApp', 'Contacts': 'ContactsApp', 'Messages': 'MessagingAppV2',
    'Chats': 'MessagingAppV2', 'Calendar': 'CalendarApp', 'Shopping': 'ShoppingApp',
    'Cabs': 'CabApp', 'Files': 'SandboxLocalFileSystem'}
_COMPARED_AS = {'SandboxLocalFileSystem__makedirs': 'SandboxLocalFileSystem__mkdir'}
_HARMLESS = 'CabApp__get_quotation'


def key_of(class_name: str, function: str) -> str:
    """Return by which name ARE's judge compares calls of a tool."""
    key = f'{class_name}__{function}'
    return _COMPARED_AS.get(key, key)


def changes_nothing(key: str) -> bool:
    """Return whether ARE's judge takes a tool for one that changes nothing, though it writes."""
    return key == _HARMLESS


def checks_of(key: str) -> Mapping[str, str] | None:
    """Return argument to how ARE's judge compares it, None of a tool that it does not know."""
    class_name, _, function = key.partition('__')
    names = _TOOLS.get(_ALIASES.get(class_name, class_name), {}).get(function)
    return None if names is None else {
        name: _CHECK.get(name, 'eq_checker') for name in names.split()}


def checks_by_name(names: Iterable[str], texts: Iterable[str]) -> Mapping[str, str]:
    """
    Return argument to how it is compared where ARE's judge does not know the tool.

    :param texts: the names of those that are texts
    """
    plain = dict.fromkeys(texts, 'eq_str_strip_checker')
    found = {name: _UNSURE.get(name, _CHECK.get(name, '')) for name in names}
    return {name: check if check in _FOR_UNKNOWN else plain.get(name, 'eq_checker')
            for name, check in found.items()}
