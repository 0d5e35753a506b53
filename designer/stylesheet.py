"""The application's style sheet as a template. Names no colour itself: the theme puts in those of a palette."""

from string import Template

# Outlines that stand in the sheet as pictures; the theme writes them as files, muted and faint.
ARROWS = ("chevron-down", "chevron-up", "chevron-right", "chevron-left")


class _Sheet(Template):
    """Braces belong to the sheet, so values stand as @name."""

    delimiter = "@"


_BASE = """
QMainWindow, QDialog { background: @background; }
QDialog, QMessageBox { background: @panel; }
/* Cancel, then what it is about, as in the drawings, everywhere */
QDialogButtonBox, QMessageBox { dialogbuttonbox-buttons-have-icons: 0; button-layout: 3; }
QFileDialog { backward-icon: url("@chevron_left_muted"); forward-icon: url("@chevron_right_muted");
  filedialog-parent-directory-icon: url("@chevron_up_muted"); }
QWidget:disabled { color: @faint; }
QToolTip { background: @panel; color: @text; border: 1px solid @line; padding: 4px 8px; }
QLabel { background: transparent; }
/* Names, notes and messages come from files: only what designer/markup.py made is read as rich text. */
QLabel, QToolTip { qproperty-textFormat: PlainText; }
QLabel[markup="true"] { qproperty-textFormat: RichText; }
QLabel[role="section"] { color: @muted; font-size: 11px; font-weight: 700; }
QLabel[role="title"] { color: @text; font-size: 15px; font-weight: 600; }
QLabel[role="strong"] { color: @text; font-weight: 600; }
QLabel[role="muted"] { color: @muted; }
QLabel[role="help"] { color: @muted; font-size: 12px; }
QLabel[role="error"] { color: @error; font-size: 12px; }
QLabel[role="warning"] { color: @warning; font-size: 12px; }
QLabel[role="good"] { color: @good; font-size: 12px; }
QLabel[role="large"] { color: @text; font-size: 24px; font-weight: 600; }
QLabel[role="figure"] { color: @text; font-size: 19px; font-weight: 600; }
QLabel[role="chip"] {
  background: @raised; color: @text; border: 1px solid @line; border-radius: 8px; padding: 4px 8px; }
QLabel[role="readout"] {
  background: @raised; color: @text; border: 1px solid @line; border-radius: 6px; padding: 6px 8px; font-size: 11px; }
QLabel[role="plot-warning"] { background: @panel; color: @warning; font-size: 11px; }
QWidget[role="panel"] { background: @panel; }
QFrame[role="lens-bar"] { background: @panel; border: none; border-bottom: 1px solid @line; }
QFrame[role="strip"] { background: @panel; border: none; border-top: 1px solid @line; }
QFrame[role="card"] { background: @panel; border: 1px solid @line; border-radius: 10px; }
QFrame[role="callout"] { background: @panel; border: 2px solid @accent; border-radius: 10px; }
QFrame[role="notice"] { background: @raised; border: 1px solid @line; border-radius: 8px; margin-bottom: 20px; }
QFrame[role="notice"][flush="true"] { margin-bottom: 0; }
QFrame[role="popup"], QDialog[role="popup"] { background: @panel; border: 1px solid @line; }
QFrame[role="card"][selected="true"] { border-color: @accent; }
QFrame[role="separator"] { background: @line; border: none; min-height: 1px; max-height: 1px; }
QMainWindow::separator { background: @line; width: 1px; height: 1px; }
QMainWindow::separator:hover { background: @accent; }
QSplitter::handle { background: @line; }
QSplitter::handle:horizontal { width: 1px; }
QSplitter::handle:vertical { height: 1px; }
QSplitter::handle:hover { background: @accent; }
QAbstractScrollArea { background: @panel; border: none; }
QScrollArea, QScrollArea > QWidget > QWidget { background: transparent; }
QScrollArea > QWidget > QScrollBar { background: transparent; }
QStatusBar { background: @panel; color: @muted; border-top: 1px solid @line; min-height: 24px; }
QStatusBar::item { border: none; }
QStatusBar QLabel { color: @muted; font-size: 12px; padding: 0 8px; }
"""

_BUTTONS = """
/* What Enter presses in a dialog. First of all rules, so that those for links and chips win. */
QPushButton:default { background: @primary; color: @on_primary; border: 1px solid @primary; }
QPushButton:default:hover { background: @primary_hover; border-color: @primary_hover; }
QPushButton:default:pressed { background: @primary_down; border-color: @primary_down; }
QPushButton:default:disabled { background: @primary_off; border-color: @primary_off; color: @on_primary_off; }
QPushButton, QToolButton[role="chip"], QPushButton[role="chip"] {
  background: @raised; color: @text; border: 1px solid @edge; border-radius: 8px;
  padding: 5px 12px; min-height: 20px; }
QPushButton[role="chip"], QToolButton[role="chip"] { background: @panel; }
QPushButton[role="chip"]:default:hover { background: @lifted; border-color: @edge; }
QPushButton[role="chip"]:default:pressed { background: @line; border-color: @line; }
QPushButton:hover, QToolButton[role="chip"]:hover { background: @lifted; }
QPushButton:pressed, QToolButton[role="chip"]:pressed { background: @line; }
QPushButton:checked { border-color: @accent; }
QPushButton[keyboard="true"]:focus, QToolButton[keyboard="true"]:focus { border: 1px solid @accent; }
QPushButton:disabled { color: @faint; background: @raised; }
QPushButton[primary="true"] { background: @primary; color: @on_primary; border-color: @primary; font-weight: 600; }
QPushButton[primary="true"]:hover { background: @primary_hover; border-color: @primary_hover; }
QPushButton[primary="true"]:pressed { background: @primary_down; border-color: @primary_down; }
QPushButton[primary="true"][keyboard="true"]:focus,
QPushButton:default[keyboard="true"]:focus { border: 1px solid @text; }
QPushButton[primary="true"]:disabled { background: @primary_off; border-color: @primary_off; color: @on_primary_off; }
QPushButton::menu-indicator, QToolButton::menu-indicator {
  image: url("@chevron_down_muted"); width: 12px; height: 12px;
  subcontrol-origin: padding; subcontrol-position: center right; right: 8px; }
QPushButton[role="link"], QToolButton[role="link"] {
  background: transparent; color: @link; border: 1px solid transparent; border-radius: 6px; padding: 0 4px; }
QPushButton[role="link"]:hover, QToolButton[role="link"]:hover { text-decoration: underline; }
QPushButton[role="link"]:default:hover, QPushButton[role="link"]:default:pressed {
  background: transparent; border-color: transparent; }
QPushButton[role="link"][keyboard="true"]:focus,
QToolButton[role="link"][keyboard="true"]:focus { border-color: @accent; }
QPushButton[role="link"]:disabled { color: @faint; }
QPushButton[flush="true"] {
  padding: 0; min-height: 0; border: none; border-bottom: 1px solid transparent; border-radius: 0; }
QPushButton[flush="true"][keyboard="true"]:focus { border-bottom-color: @accent; }
QLabel[role="link"] { color: @link; }
QToolButton { background: transparent; color: @text; border: 1px solid transparent; border-radius: 6px; padding: 4px; }
QToolButton:hover { background: @lifted; }
QToolButton:pressed, QToolButton:checked { background: @raised; border-color: @line; }
QToolButton:disabled { color: @faint; }
QToolButton[popupMode="1"], QToolButton[popupMode="2"] { padding-right: 20px; }
QToolButton::menu-button { border: none; width: 16px; }
QWidget[role="segments"] { background: @segments; border: 1px solid @segments; border-radius: 8px; }
QWidget[role="segments"] QAbstractButton {
  background: transparent; color: @muted; border: 1px solid transparent; border-radius: 6px;
  padding: 2px 10px; min-height: 20px; font-weight: 500; }
QWidget[role="segments"] QAbstractButton:hover { color: @text; background: transparent; }
QWidget[role="segments"] QAbstractButton:checked {
  background: @segment; color: @text; border-color: @edge; font-weight: 600; }
QWidget[role="segments"] QAbstractButton[keyboard="true"]:focus { border-color: @accent; }
QWidget[role="segments"] QAbstractButton:disabled { color: @faint; }
"""

_INPUTS = """
QLineEdit, QAbstractSpinBox, QComboBox, QPlainTextEdit, QTextEdit {
  background: @raised; color: @text; border: 1px solid @edge; border-radius: 6px;
  padding: 4px 7px; min-height: 20px;
  selection-background-color: @selection; selection-color: @text; }
QLineEdit:hover, QAbstractSpinBox:hover, QComboBox:hover { border-color: @outline; }
QLineEdit:focus, QAbstractSpinBox:focus, QComboBox:focus, QComboBox:on, QPlainTextEdit:focus, QTextEdit:focus {
  border-color: @accent; }
QLineEdit:disabled, QAbstractSpinBox:disabled, QComboBox:disabled { color: @faint; background: @panel; }
QLineEdit:read-only { background: @panel; }
QLineEdit[invalid="true"], QAbstractSpinBox[invalid="true"], QComboBox[invalid="true"] { border-color: @error; }
QAbstractSpinBox { padding: 3px 20px 2px 7px; } /* Qt adds three pixels to its height */
QAbstractSpinBox QLineEdit { background: transparent; border: none; padding: 0; min-height: 0; }
QAbstractSpinBox::up-button, QAbstractSpinBox::down-button {
  background: transparent; border: none; width: 18px; subcontrol-origin: border; }
QAbstractSpinBox::up-button { subcontrol-position: top right; top: 2px; right: 2px; }
QAbstractSpinBox::down-button { subcontrol-position: bottom right; bottom: 2px; right: 2px; }
QAbstractSpinBox::up-arrow { image: url("@chevron_up_muted"); width: 11px; height: 11px; }
QAbstractSpinBox::down-arrow { image: url("@chevron_down_muted"); width: 11px; height: 11px; }
QAbstractSpinBox::up-arrow:off, QAbstractSpinBox::up-arrow:disabled { image: url("@chevron_up_line"); }
QAbstractSpinBox::down-arrow:off, QAbstractSpinBox::down-arrow:disabled { image: url("@chevron_down_line"); }
QComboBox { padding-left: 9px; padding-right: 22px; }
QComboBox::drop-down { border: none; width: 22px; subcontrol-origin: border; subcontrol-position: center right; }
QComboBox::down-arrow { image: url("@chevron_down_muted"); width: 14px; height: 14px; }
QComboBox::down-arrow:disabled { image: url("@chevron_down_line"); }
QComboBox QLineEdit { background: transparent; border: none; padding: 0; min-height: 0; }
QComboBox QAbstractItemView, QListView[role="popup"] {
  background: @panel; color: @text; border: 1px solid @line; padding: 4px; outline: none;
  selection-background-color: @selected; selection-color: @text; }
QListView[role="popup"] { padding: 0; }
QComboBox QAbstractItemView::item, QListView[role="popup"]::item {
  min-height: 24px; padding: 0 4px; border-radius: 4px; }
QCheckBox, QRadioButton { background: transparent; color: @text; spacing: 8px; min-height: 20px; }
QCheckBox:disabled, QRadioButton:disabled { color: @faint; }
QCheckBox::indicator, QRadioButton::indicator, QAbstractItemView::indicator, QGroupBox::indicator {
  width: 14px; height: 14px; border: 1px solid @outline; border-radius: 4px; background: @raised; }
QRadioButton::indicator { border-radius: 8px; }
QCheckBox::indicator:hover, QRadioButton::indicator:hover { border-color: @accent; }
QCheckBox[keyboard="true"]::indicator:focus, QRadioButton[keyboard="true"]::indicator:focus { border-color: @accent; }
QCheckBox::indicator:checked, QAbstractItemView::indicator:checked, QGroupBox::indicator:checked {
  background: @primary; border-color: @primary; image: url("@check_on"); }
QCheckBox::indicator:indeterminate, QAbstractItemView::indicator:indeterminate {
  background: @primary; border-color: @primary; image: url("@minus_on"); }
QRadioButton::indicator:checked { border-color: @primary; background: qradialgradient(cx: 0.5, cy: 0.5, radius: 0.5,
  fx: 0.5, fy: 0.5, stop: 0 @on_primary, stop: 0.38 @on_primary, stop: 0.5 @primary, stop: 1 @primary); }
QCheckBox[keyboard="true"]::indicator:checked:focus,
QRadioButton[keyboard="true"]::indicator:checked:focus { border-color: @text; }
QCheckBox::indicator:disabled, QRadioButton::indicator:disabled { border-color: @line; background: @panel; }
QCheckBox::indicator:checked:disabled { background: @primary_off; border-color: @primary_off; }
QSlider::groove:horizontal { height: 4px; border-radius: 2px; background: @line; }
QSlider::sub-page:horizontal { height: 4px; border-radius: 2px; background: @accent; }
QSlider::handle:horizontal {
  width: 12px; height: 12px; margin: -5px 0; border-radius: 7px; background: @on_primary; border: 1px solid @outline; }
QSlider::handle:horizontal:hover, QSlider[keyboard="true"]::handle:horizontal:focus { border-color: @accent; }
QProgressBar {
  background: @raised; color: transparent; border: none; border-radius: 3px; min-height: 6px; max-height: 6px; }
QProgressBar::chunk { background: @accent; border-radius: 3px; }
QGroupBox { border: 1px solid @line; border-radius: 10px; margin-top: 20px; padding: 12px; }
QGroupBox::title {
  subcontrol-origin: margin; subcontrol-position: top left; left: 0; padding: 0 4px 4px 0; color: @muted; }
"""

_VIEWS = """
QTabWidget::pane { border: none; border-top: 1px solid @line; background: @panel; top: -1px; }
QTabBar { background: @panel; qproperty-drawBase: 0; }
QTabBar::tab {
  background: transparent; color: @muted; border: none; border-bottom: 2px solid transparent;
  padding: 8px 0 6px 0; margin: 0 12px; min-height: 20px; }
QTabBar::tab:hover { color: @text; }
QTabBar::tab:selected { color: @text; font-weight: 600; border-bottom-color: @accent; }
QTabBar::tab:disabled { color: @faint; }
QTabBar:focus { outline: none; }
QTabBar[keyboard="true"]::tab:selected:focus { border-bottom-color: @text; }
QTreeView, QListView, QTableView {
  background: @panel; alternate-background-color: @panel; color: @text; border: none; outline: none;
  selection-background-color: @selected; selection-color: @text; gridline-color: @line; }
QTreeView::item, QListView::item { min-height: 24px; padding: 0 4px; border: none; border-radius: 6px; }
QListView[role="groups"]::item { padding: 0 9px; }
QTableView::item { padding: 4px 5px; border: none; }
QTreeView::item:hover, QListView::item:hover { background: @hover; }
QTreeView::item:selected, QListView::item:selected, QTableView::item:selected { background: @selected; color: @text; }
QTreeView::item:first { border-top-right-radius: 0; border-bottom-right-radius: 0; }
QTreeView::item:middle { border-radius: 0; }
QTreeView::item:last { border-top-left-radius: 0; border-bottom-left-radius: 0; }
QTreeView::branch { background: transparent; border: none; image: none; }
QTreeView::branch:has-children:closed { image: url("@chevron_right_muted"); }
QTreeView::branch:has-children:open { image: url("@chevron_down_muted"); }
QHeaderView { background: @panel; border: none; }
QHeaderView::section {
  background: @panel; color: @muted; border: none; border-bottom: 1px solid @line;
  padding: 4px 8px; font-size: 12px; font-weight: 500; min-height: 20px; }
QHeaderView::section:hover { color: @text; }
QHeaderView::up-arrow { image: url("@chevron_up_muted"); width: 12px; height: 12px; }
QHeaderView::down-arrow { image: url("@chevron_down_muted"); width: 12px; height: 12px; }
QTableCornerButton::section { background: @panel; border: none; }
QScrollBar { background: transparent; border: none; margin: 0; }
QScrollBar:vertical { width: 10px; }
QScrollBar:horizontal { height: 10px; }
QScrollBar::handle { background: @edge; border-radius: 3px; margin: 2px; }
QScrollBar::handle:vertical { min-height: 32px; }
QScrollBar::handle:horizontal { min-width: 32px; }
QScrollBar::handle:hover { background: @muted; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; border: none; background: none; }
QScrollBar::add-page, QScrollBar::sub-page { background: none; }
QAbstractScrollArea::corner { background: transparent; border: none; }
"""

_FRAME = """
QMenuBar { background: @panel; color: @muted; border-bottom: 1px solid @line; padding: 2px 8px; }
QMenuBar::item { background: transparent; color: @muted; padding: 4px 8px; border-radius: 6px; }
QMenuBar::item:selected, QMenuBar::item:pressed { background: @raised; color: @text; }
QMenu { background: @panel; color: @text; border: 1px solid @line; padding: 4px; }
QMenu::item { background: transparent; padding: 4px 24px 4px 8px; border-radius: 6px; min-height: 20px; }
QMenu::item:selected { background: @raised; color: @text; }
QMenu::item:disabled { color: @faint; }
QMenu::icon { padding-left: 8px; }
QMenu::separator { height: 1px; background: @line; margin: 4px 8px; }
QMenu::right-arrow { image: url("@chevron_right_muted"); width: 12px; height: 12px; right: 4px; }
QMenu::indicator { width: 14px; height: 14px; left: 8px; border-radius: 4px; }
QMenu[role="choices"]::item { padding-left: 16px; }
QMenu::indicator:exclusive { border-radius: 7px; }
QMenu::indicator:non-exclusive:unchecked, QMenu::indicator:exclusive:unchecked { border: 1px solid @outline; }
QMenu::indicator:checked {
  background: @primary; border: 1px solid @primary; image: url("@check_on"); }
QToolBar { background: @panel; border: none; border-bottom: 1px solid @line; padding: 8px; spacing: 4px; }
QToolBar[role="strip"] { border: none; padding: 0; }
QToolBar::separator { background: @line; width: 1px; margin: 4px 8px; }
QToolBar::handle { image: none; width: 0; }
QDockWidget { color: @text; titlebar-close-icon: none; titlebar-normal-icon: none; }
QDockWidget > QWidget { background: @panel; }
QDockWidget::title { background: @panel; color: @muted; padding: 8px 12px; text-align: left; }
QDockWidget::close-button, QDockWidget::float-button { border: none; background: transparent; padding: 0; }
"""

SHEET = _Sheet(_BASE + _BUTTONS + _INPUTS + _VIEWS + _FRAME)
